// SPDX-License-Identifier: Apache-2.0
#include <muster/devices/device_selector.hpp>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
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

const device_attributes& gpu() {
    static const device_attributes device = read_table().devices.at("gpu");
    return device;
}

std::string repeat(std::string_view text, std::size_t times) {
    std::string made;
    for (std::size_t count = 0; count < times; ++count)
        made += text;
    return made;
}

selector_verdict evaluate(const std::string& expression) {
    const auto selector = parse_device_selector(expression);
    REQUIRE(selector);
    return selector->matches(gpu());
}

selector_error refuse(const std::string& expression) {
    const auto selector = parse_device_selector(expression);
    REQUIRE_FALSE(selector);
    return selector.error();
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

TEST_CASE("a verdict says why a selector failed or is not supported") {
    CHECK(evaluate("true").text.empty());
    CHECK(evaluate("false").text.empty());
    const auto missing = evaluate("device.attributes['gpu.example.com'].nope == 1");
    CHECK(missing.outcome == selector_outcome::failed);
    CHECK(missing.text == "no such key: nope");
    const auto type = evaluate("device.attributes['gpu.example.com'].index");
    CHECK(type.outcome == selector_outcome::failed);
    CHECK(type.text == "the value must be a bool, not int");
    const auto map = evaluate("device == device");
    CHECK(map.outcome == selector_outcome::not_supported);
    CHECK(map.text == "a comparison of maps");
}

TEST_CASE("an error names the first wrong byte and what is wrong with it") {
    const auto end = refuse("true &&");
    CHECK(end.code == selector_errc::invalid);
    CHECK(end.offset == 7);
    CHECK(end.text == "expected an expression, found the end");
    const auto type = refuse("device.driver == 1");
    CHECK(type.code == selector_errc::invalid);
    CHECK(type.offset == 14);
    CHECK(type.text == "no operation == of string and int");
    const auto function = refuse("true || 'a'.charAt(0) == 'a'");
    CHECK(function.code == selector_errc::not_supported);
    CHECK(function.offset == 11);
    CHECK(function.text == "not supported: function charAt");
    const auto number = refuse("1 < 1.5");
    CHECK(number.code == selector_errc::not_supported);
    CHECK(number.offset == 4);
    CHECK(refuse("1").text == "the value must be a bool, not int");
}

TEST_CASE("an operand that is not supported decides nothing unless another one absorbs it") {
    const std::string unknown = "device == device";
    CHECK(evaluate(unknown + " && true").outcome == selector_outcome::not_supported);
    CHECK(evaluate(unknown + " && false").outcome == selector_outcome::differs);
    CHECK(evaluate("true || " + unknown).outcome == selector_outcome::matches);
    // Were the unknown operand false, the failure would not count.
    CHECK(evaluate("1 / 0 == 1 && " + unknown).outcome == selector_outcome::not_supported);
    CHECK(evaluate(unknown + " && 1 / 0 == 1").outcome == selector_outcome::not_supported);
}

TEST_CASE("a text is at most 10 KiB long") {
    const std::string longest = "true" + std::string(device_selector::max_text - 4, ' ');
    CHECK(parse_device_selector(longest));
    CHECK(refuse(longest + " ").code == selector_errc::invalid);
}

TEST_CASE("expressions of 100 levels are evaluated, deeper ones are not supported") {
    CHECK(evaluate(repeat("(", 99) + "true" + repeat(")", 99)).outcome ==
          selector_outcome::matches);
    CHECK(evaluate("1" + repeat(" + 1", 99) + " == 100").outcome == selector_outcome::matches);
    CHECK(evaluate("true" + repeat(" && true", 1000)).outcome == selector_outcome::matches);
    CHECK(evaluate(repeat("!", 10001) + "true").outcome == selector_outcome::differs);
    for (const std::string& text :
         {repeat("(", 5000), repeat("[", 5000), "1" + repeat("+1", 5000) + " == 1",
          "device.attributes" + repeat("['a']", 2000), repeat("true ? true : ", 700) + "true",
          repeat("true ? (", 1000), repeat("has(", 2500), repeat("!(", 5000), repeat("-(", 5000),
          repeat("cel.bind(a, ", 800), repeat("[].all(a, ", 1000)})
        CHECK(refuse(text).text == "not supported: more than 100 levels");
}

TEST_CASE("an evaluation that takes too many steps is not supported") {
    const std::string ten = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
    std::string loops = "x == x";
    for (int depth = 0; depth < 7; ++depth)
        loops = ten + ".all(x, " + loops + ")";
    // Each level doubles what the level outside of it has bound.
    const auto doubled = [](const std::string& first, const std::string& test) {
        return repeat("cel.bind(a, ", 1) + first + ", " + repeat("cel.bind(a, a + a, ", 60) + test +
               repeat(")", 61);
    };
    for (const std::string& text :
         {loops, doubled("'ab'", "a.size() > 0"), doubled("[1]", "a.size() > 0"),
          doubled("['a']", "a.all(x, a.all(y, x == y))"),
          repeat("cel.bind(a, 'a'.replace('', 'aaaaaaaa'), ", 1) +
              repeat("cel.bind(a, a.replace('a', a), ", 20) + "a == ''" + repeat(")", 21),
          ten + ".all(x, " + ten + ".all(y, " + ten + ".all(z, '" + repeat("a", 1000) +
              "'.matches('(a*)*b') || true)))"}) {
        const auto verdict = evaluate(text);
        CHECK(verdict.outcome == selector_outcome::not_supported);
        CHECK(verdict.text == "the selector takes too many steps");
    }
    const std::string squares = ten + ".all(x, " + ten + ".all(y, x * y > 0))";
    CHECK(evaluate(squares).outcome == selector_outcome::matches);
}

TEST_CASE("lists and optionals are nested 100 deep at most") {
    const auto nested = [](const std::string& wrapped) {
        return repeat("cel.bind(a, ", 1) + "[1], " + repeat("cel.bind(a, " + wrapped + ", ", 60) +
               "true" + repeat(")", 61);
    };
    CHECK(evaluate(nested("[a]")).outcome == selector_outcome::matches);
    const std::string deep = nested("[[[a]]]");
    const auto verdict = evaluate(deep.substr(0, deep.rfind("true")) + "a == a" + repeat(")", 61));
    CHECK(verdict.outcome == selector_outcome::not_supported);
    CHECK(verdict.text == "lists in lists, more than 100 levels");
}

TEST_CASE("a truncated or damaged selector is refused or evaluated, never more") {
    const selector_table table = read_table();
    std::size_t refused = 0;
    std::size_t evaluated = 0;
    const auto probe = [&](const std::string& text) {
        const auto selector = parse_device_selector(text);
        if (selector) {
            ++evaluated;
            const auto verdict = selector->matches(gpu());
            const bool is_decided = verdict.outcome == selector_outcome::matches ||
                                    verdict.outcome == selector_outcome::differs;
            CHECK(verdict.text.empty() == is_decided);
            return;
        }
        ++refused;
        CHECK(selector.error().offset <= text.size());
        CHECK_FALSE(selector.error().text.empty());
    };
    std::uint32_t state = 1;
    const auto random = [&](std::size_t limit) {
        state = state * 1664525U + 1013904223U;
        return static_cast<std::size_t>(state >> 8) % limit;
    };
    constexpr std::string_view bytes = "()[]{}.,?:!&|<>=+-*/%'\"\\abx019 \n\xff";
    for (std::size_t index = 0; index < table.cases.size(); index += 13) {
        const std::string& text = table.cases[index].expression;
        for (std::size_t size = 0; size < text.size(); ++size)
            probe(text.substr(0, size));
        for (int round = 0; round < 20 && !text.empty(); ++round) {
            std::string damaged = text;
            damaged[random(damaged.size())] = bytes[random(bytes.size())];
            damaged.insert(random(damaged.size()), 1, bytes[random(bytes.size())]);
            damaged.erase(random(damaged.size()), 1);
            probe(damaged);
        }
    }
    CHECK(refused > 1000);
    CHECK(evaluated > 100);
}

TEST_CASE("copies of a selector share the parsed expression") {
    const auto parsed = parse_device_selector("device.driver == 'gpu.example.com'");
    REQUIRE(parsed);
    const device_selector copy = *parsed;
    CHECK(copy.matches(gpu()).outcome == selector_outcome::matches);
    CHECK(copy.matches({}).outcome == selector_outcome::differs);
}

} // namespace device_selector_evaluation_test
