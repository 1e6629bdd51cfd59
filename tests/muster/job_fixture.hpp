// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <doctest/doctest.h>

#include <muster/apis/job_reader.hpp>
#include <muster/input/read_documents.hpp>

namespace muster_job_fixture {

using namespace muster::codec;
using namespace muster::translate;

/// What a job was made into, with its diagnostics as text.
struct read_result : job_gangs {
    std::string findings;
};

inline read_result read_job(job_reader reader, const std::string& text,
                            const job_options& options = {}) {
    read_result made;
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    REQUIRE(documents.size() == 1);
    reading_context context;
    {
        object_reader root(documents[0], out);
        static_cast<job_gangs&>(made) = reader(root, context, options);
    }
    for (const diagnostic& finding : out.findings())
        made.findings += to_text(finding) + '\n';
    return made;
}

/// A gang's tree on one line: name minimum/children-needed (children); only what is set.
inline std::string tree_text(const muster::gang_tree& tree, std::size_t at = 0) {
    std::string out = tree[at].name;
    out += (out.empty() ? "" : " ") + std::to_string(tree[at].min_member);
    if (tree[at].min_subgroups)
        out += "/" + std::to_string(*tree[at].min_subgroups);
    std::string below;
    for (std::size_t i = at + 1; i < tree.size(); ++i)
        if (tree[i].parent == at)
            below += (below.empty() ? "" : ", ") + tree_text(tree, i);
    return below.empty() ? out : out + " (" + below + ")";
}

inline std::string pod_names(const std::vector<gang_pod>& pods) {
    std::string out;
    for (const gang_pod& pod : pods)
        out += (out.empty() ? "" : " ") +
               std::string(pod.document.at("metadata").at("name").as_string().c_str());
    return out;
}

/// What stands at a path such as metadata.labels.x, in JSON; `~1` stands for a dot in a key.
inline std::string at(const boost::json::object& document, std::string_view path) {
    const boost::json::value* value = nullptr;
    boost::json::value root(document);
    value = &root;
    while (!path.empty()) {
        const std::size_t end = path.find('|');
        const std::string_view key = path.substr(0, end);
        path = end == std::string_view::npos ? std::string_view{} : path.substr(end + 1);
        if (const auto* const list = value->if_array()) {
            const std::size_t index = std::stoul(std::string(key));
            if (index >= list->size())
                return "";
            value = &(*list)[index];
        } else if (const auto* const object = value->if_object()) {
            value = object->if_contains(key);
        } else {
            value = nullptr;
        }
        if (!value)
            return "";
    }
    if (const auto* const text = value->if_string())
        return {text->data(), text->size()};
    return boost::json::serialize(*value);
}

/// The value of an environment variable of a container.
inline std::string env_of(const boost::json::object& pod, std::string_view name,
                          std::size_t container = 0) {
    const auto& list = pod.at("spec").at("containers").as_array().at(container).as_object();
    if (const auto* const env = list.if_contains("env"))
        for (const auto& each : env->as_array())
            if (each.at("name").as_string() == boost::json::string_view(name.data(), name.size()))
                return at(each.as_object(),
                          each.as_object().contains("value") ? "value" : "valueFrom");
    return "(none)";
}

inline std::string loss_text(const std::vector<loss>& losses) {
    std::string out;
    for (const loss& each : losses)
        out += std::string(to_text(each.what)) + ": " + each.object + ": " + each.detail + '\n';
    return out;
}

} // namespace muster_job_fixture
