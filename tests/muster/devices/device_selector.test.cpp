// SPDX-License-Identifier: Apache-2.0
#include <muster/devices/device_selector.hpp>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <muster/devices/semantic_version_text.hpp>
#include <muster/resource/quantity_text.hpp>

namespace device_selector_evaluation_test {

using namespace muster;

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream rest(text);
    for (std::string part; std::getline(rest, part, separator);)
        parts.push_back(part);
    return parts;
}

std::string unescape(const std::string& text) {
    std::string made;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\\' || at + 1 == text.size()) {
            made += text[at];
            continue;
        }
        const char letter = text[++at];
        made += letter == 'n' ? '\n' : letter == 't' ? '\t' : letter == 'r' ? '\r' : letter;
    }
    return made;
}

device_attribute read_attribute(const std::string& kind, const std::string& value) {
    std::vector<std::int64_t> ints;
    std::vector<bool> bools;
    std::vector<semantic_version> versions;
    for (const std::string& each : split(value, ',')) {
        if (kind == "int" || kind == "ints")
            ints.push_back(std::stoll(each));
        bools.push_back(each == "true");
        versions.push_back(parse_semantic_version(each).value_or(semantic_version{}));
    }
    if (kind == "int")
        return ints.front();
    if (kind == "bool")
        return value == "true";
    if (kind == "text")
        return value;
    if (kind == "version")
        return versions.front();
    if (kind == "ints")
        return ints;
    if (kind == "bools")
        return bools;
    if (kind == "texts")
        return split(value, ',');
    REQUIRE(kind == "versions");
    return versions;
}

void describe(device_attributes& device, const std::string& kind, const std::string& name,
              const std::string& value) {
    if (kind == "driver")
        device.driver = value;
    else if (kind == "shared")
        device.allows_multiple_allocations = value == "true";
    else if (kind == "capacity")
        device.capacities[name] = *parse_quantity(value);
    else
        device.attributes[name] = read_attribute(kind, value);
}

struct selector_case {
    std::string device;
    std::string verdict;
    bool is_decided = false;
    std::string expression;
};

struct selector_table {
    std::map<std::string, device_attributes> devices;
    std::vector<selector_case> cases;
};

selector_table read_table() {
    selector_table table;
    std::ifstream file(MUSTER_TEST_DATA "/device_selectors.tsv");
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#')
            continue;
        const auto fields = split(line, '\t');
        if (fields[0] == "device") {
            REQUIRE(fields.size() == 5);
            describe(table.devices[fields[1]], fields[2], fields[3], fields[4]);
            continue;
        }
        REQUIRE(fields.size() == 4);
        table.cases.push_back({fields[0], fields[1], fields[2] == "yes", unescape(fields[3])});
    }
    return table;
}

/// What this library says, in the words of the table.
std::string verdict_of(const std::string& expression, const device_attributes& device) {
    const auto selector = parse_device_selector(expression);
    if (!selector)
        return selector.error().code == selector_errc::invalid ? "invalid" : "not supported";
    switch (selector->matches(device).outcome) {
    case selector_outcome::matches:
        return "matches";
    case selector_outcome::differs:
        return "differs";
    case selector_outcome::failed:
        return "fails";
    case selector_outcome::not_supported:
        break;
    }
    return "not supported";
}

} // namespace

TEST_CASE("selectors are decided as Kubernetes decides them, or not at all") {
    const selector_table table = read_table();
    CHECK(table.cases.size() >= 200);
    for (const selector_case& each : table.cases) {
        CAPTURE(each.expression);
        const std::string found = verdict_of(each.expression, table.devices.at(each.device));
        // Kubernetes folds constants, so it rejects int("x") before it evaluates anything.
        if (each.is_decided && each.verdict == "invalid")
            CHECK((found == "invalid" || found == "fails"));
        else
            CHECK(found == (each.is_decided ? each.verdict : "not supported"));
    }
}

} // namespace device_selector_evaluation_test
