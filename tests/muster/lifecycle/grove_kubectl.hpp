// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include "muster/lifecycle/grove_server.hpp"

namespace lifecycle_grove {

using table = std::vector<std::vector<std::string>>;

/// Cells by what stands below the columns' names: they are two blanks apart at least.
inline table cells_of(const std::string& text) {
    table made;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (const auto comment = line.find("# "); comment != std::string::npos)
            line.erase(comment);
        std::istringstream words(line);
        std::vector<std::string> row;
        for (std::string word; words >> word;)
            row.push_back(word);
        if (!row.empty())
            made.push_back(std::move(row));
    }
    return made;
}

/// As `kubectl get` prints what the server has, with ages as they are.
struct kubectl {
    grove_server& server;

    [[nodiscard]] static std::string kind_of(const std::string& word) {
        static const std::map<std::string, std::string> kinds{
            {"pcs", "grove.io/PodCliqueSet"},
            {"podgang", "scheduler.grove.io/PodGang"},
            {"podgangs", "scheduler.grove.io/PodGang"},
            {"podgroup", "scheduling.run.ai/PodGroup"},
            {"podgroups.scheduling.run.ai", "scheduling.run.ai/PodGroup"},
            {"pod", "Pod"},
            {"pods", "Pod"},
            {"workloads.scheduling.k8s.io", "scheduling.k8s.io/Workload"}};
        return kinds.at(word);
    }

    [[nodiscard]] std::string age(const json::object& object) const {
        const auto created = muster::parse_timestamp(
            muster::lifecycle::detail::text_at(object, "metadata", "creationTimestamp"));
        const auto seconds = (server.now - created.value()) / 1'000'000'000;
        return seconds < 120 ? std::to_string(seconds) + 's' : std::to_string(seconds / 60) + 'm';
    }

    [[nodiscard]] table get(const std::string& kind, const std::string& name_space,
                            const std::string& name = {}) const {
        using muster::lifecycle::detail::text_at;
        table made;
        for (const auto& [key, each] : server.objects) {
            if (grove_view::group_kind(each) != kind ||
                text_at(each, "metadata", "namespace") != name_space ||
                (!name.empty() && text_at(each, "metadata", "name") != name))
                continue;
            std::vector<std::string> row{std::string(text_at(each, "metadata", "name"))};
            if (kind == "grove.io/PodCliqueSet") {
                row.push_back(json::serialize(each.at("spec").at("replicas")));
                row.emplace_back(text_at(each, "status", "ready"));
            } else if (kind == "Pod") {
                row.emplace_back(muster::lifecycle::detail::is_true(each, "Ready") ? "1/1" : "0/1");
                row.emplace_back(text_at(each, "status", "phase"));
                row.emplace_back("0");
            }
            row.push_back(age(each));
            made.push_back(std::move(row));
        }
        if (made.empty())
            return {{"No", "resources", "found", "in", name_space, "namespace."}};
        std::vector<std::string> head{"NAME"};
        if (kind == "grove.io/PodCliqueSet")
            head.insert(head.end(), {"REPLICAS", "READY"});
        else if (kind == "Pod")
            head.insert(head.end(), {"READY", "STATUS", "RESTARTS"});
        head.emplace_back("AGE");
        made.insert(made.begin(), std::move(head));
        return made;
    }

    /// A field by a JSONPath of names; a dot in a name is escaped.
    [[nodiscard]] static std::string field(const json::object& object, std::string_view path) {
        const json::value root = object;
        const json::value* at = &root;
        std::string name;
        REQUIRE(path.starts_with("{."));
        path.remove_prefix(2);
        for (std::size_t i = 0; i < path.size(); ++i) {
            if (path[i] == '\\') {
                name += path[++i];
            } else if (path[i] == '.' || path[i] == '}') {
                at = &at->as_object().at(name);
                name.clear();
            } else {
                name += path[i];
            }
        }
        return at->is_string() ? std::string(at->get_string()) : json::serialize(*at);
    }
};

} // namespace lifecycle_grove
