// SPDX-License-Identifier: Apache-2.0
#include <muster/document/yaml_reader.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <doctest/doctest.h>

namespace codec_yaml_cases_test {

using namespace muster::codec;

namespace {

enum class outcome { equal, other_value, only_kubectl, only_muster };

/// As kubectl's reader prints it: JSON has one kind of number, and whole ones may be written as
/// others.
bool is_equal(const boost::json::value& ours, const boost::json::value& theirs) {
    if (ours.is_number() && theirs.is_number())
        return ours.to_number<double>() == theirs.to_number<double>();
    if (ours.is_array() && theirs.is_array()) {
        const auto& mine = ours.get_array();
        const auto& other = theirs.get_array();
        bool equal = mine.size() == other.size();
        for (std::size_t i = 0; equal && i < mine.size(); ++i)
            equal = is_equal(mine[i], other[i]);
        return equal;
    }
    if (ours.is_object() && theirs.is_object()) {
        const auto& mine = ours.get_object();
        const auto& other = theirs.get_object();
        bool equal = mine.size() == other.size();
        for (const auto& member : mine) {
            const boost::json::value* value = other.if_contains(member.key());
            equal = equal && value != nullptr && is_equal(member.value(), *value);
        }
        return equal;
    }
    return ours == theirs;
}

outcome compare(const boost::json::object& one, std::string& why) {
    diagnostics found;
    const auto documents = read_yaml(
        std::make_shared<const source_text>("f.yaml", std::string(one.at("yaml").as_string())),
        found);
    const boost::json::value* expected = one.if_contains("value");
    why = found.findings().empty() ? "" : to_text(found.findings().front());
    if (!found.ok())
        return expected == nullptr ? outcome::equal : outcome::only_kubectl;
    if (expected == nullptr)
        return outcome::only_muster;
    const boost::json::value made = documents.empty() ? boost::json::value{} : documents[0].root();
    why = boost::json::serialize(made);
    return is_equal(made, *expected) ? outcome::equal : outcome::other_value;
}

} // namespace

TEST_CASE("YAML is read as kubectl reads it, except in the listed cases") {
    const char* other = std::getenv("MUSTER_YAML_CASES");
    std::ifstream lines(other != nullptr ? other : MUSTER_TEST_DATA "/yaml_cases.json");
    std::size_t cases = 0;
    std::size_t refused = 0;
    for (std::string line; std::getline(lines, line); ++cases) {
        const boost::json::object one = boost::json::parse(line).as_object();
        std::string why;
        const outcome found = compare(one, why);
        refused += one.contains("error");
        const bool listed = one.contains("differs");
        INFO(line << "\n" << why);
        CHECK((found == outcome::equal) != listed);
    }
    MESSAGE(cases << " texts, of which kubectl refuses " << refused);
    CHECK(cases >= 500);
}

} // namespace codec_yaml_cases_test
