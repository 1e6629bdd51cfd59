// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/dialect.hpp>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/gang_facts.hpp>

namespace kube_dialect_pages_test {
namespace {

using namespace muster;
using translate::api_collection;
using translate::api_facts;

const std::string root = std::string(MUSTER_TEST_DATA) + "/../../";
const std::string rights = root + "examples/deploy/rbac.yaml";
const std::string page = root + "include/muster/kube/README.md";

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Compares what stands in a file from `begin` on up to `end`. MUSTER_UPDATE=1 rewrites it.
void check_part(const std::string& path, std::string_view begin, std::string_view end,
                const std::string& expected) {
    std::string text = text_of(path);
    const std::size_t from = text.find(begin);
    REQUIRE(from != std::string::npos);
    const std::size_t at = from + begin.size();
    const std::size_t to = text.find(end, at);
    REQUIRE(to != std::string::npos);
    if (std::getenv("MUSTER_UPDATE")) {
        text.replace(at, to - at, expected);
        std::ofstream(path) << text;
        return;
    }
    CHECK(text.substr(at, to - at) == expected);
}

std::string list_of(const std::set<std::string>& names) {
    std::string made;
    for (const std::string& each : names)
        made += (made.empty() ? "" : ", ") + each;
    return made;
}

/// The rules to read all objects of an API, and to write the status of its PodGroups.
std::string rules_of(const api_facts& api) {
    std::map<std::string, std::set<std::string>> read;
    std::map<std::string, std::set<std::string>> written;
    for (const api_collection& each : api.collections) {
        if (each.planned_only)
            continue;
        const std::string group(each.version.substr(0, each.version.find('/')));
        read[group].emplace(each.plural);
        if (each.holds == translate::api_content::group && each.kind == "PodGroup")
            written[group].insert(std::string(each.plural) + "/status");
    }
    std::string made;
    for (const auto& [group, plurals] : read) {
        made += "- {apiGroups: [" + group + "], resources: [" + list_of(plurals) +
                "], verbs: [get, list, watch]}\n";
        if (const auto found = written.find(group); found != written.end())
            made += "- {apiGroups: [" + group + "], resources: [" + list_of(found->second) +
                    "], verbs: [patch]}\n";
    }
    return made;
}

/// The first three cells of an API's row: dialect, scheduler, objects.
std::string cells_of(const api_facts& api) {
    std::string objects;
    std::string_view last;
    for (const api_collection& each : api.collections) {
        if (each.planned_only)
            continue;
        objects += objects.empty() ? "" : ", ";
        if (each.version != std::exchange(last, each.version))
            objects += "`" + std::string(each.version) + "` ";
        objects += each.kind;
    }
    return "| `" + std::string(api.dialect) + "` | " +
           (api.scheduler.empty() ? "the scheduler given by `--scheduler-name`"
                                  : std::string(api.scheduler)) +
           " | " + (objects.empty() ? "pods only" : objects) + " | ";
}

/// What the rows of the page say beyond these cells.
std::map<std::string, std::string> rests() {
    std::map<std::string, std::string> found;
    std::istringstream lines(text_of(page));
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| `"))
            continue;
        std::vector<std::string> cells;
        std::istringstream row(line.substr(2));
        for (std::string cell; std::getline(row, cell, '|');)
            cells.push_back(cell);
        if (cells.size() == 4)
            found[cells[0].substr(1, cells[0].size() - 3)] = cells[3].substr(1);
    }
    return found;
}

} // namespace

TEST_CASE("the role for dialects may read what the facts of their APIs list, and nothing else") {
    std::string rules;
    for (const api_facts& api : translate::gang_facts)
        if (!api.dialect.empty() && api.dialect != kube::dialect::t9k.name)
            rules += rules_of(api);
    REQUIRE(!rules.empty());
    check_part(rights, "metadata: {name: muster-scheduler-dialects}\nrules:\n", "---\n", rules);
}

TEST_CASE("the page of the live scheduler lists every dialect as the facts of its API do") {
    const auto written = rests();
    std::string rows;
    for (const api_facts& api : translate::gang_facts) {
        if (api.dialect.empty())
            continue;
        const auto rest = written.find(std::string(api.dialect));
        rows += cells_of(api) + (rest == written.end() ? " " : rest->second) + "|\n";
    }
    REQUIRE(!rows.empty());
    check_part(page,
               "| dialect | schedules the pods of | reads | writes into `status` |\n"
               "| --- | --- | --- | --- |\n",
               "\n\nWith every dialect", rows.substr(0, rows.size() - 1));
}

} // namespace kube_dialect_pages_test
