// SPDX-License-Identifier: Apache-2.0

// check_device_cases FILE.json... runs cases of Kubernetes' device allocator through
// allocate_devices() and compares what becomes of the claims: the exact devices, none, or an error
// of the same kind. Prints every difference; closes with how many cases agree.
//
// Exits with 0 if all cases agree but those listed here, and none of those does; else with 1. Exits
// with 2 if the file cannot be read.

#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include <muster/devices/device_allocator.hpp>

#include "devices/device_case.hpp"

namespace {

using muster::device_errc;

/// Cases that differ, and why.
const std::map<std::string, std::string> differences = {};

/// A text of Kubernetes' errors, and the error that Muster has for it.
const std::vector<std::pair<std::string, device_errc>> errors = {
    {"admin access is requested, but the feature is disabled", device_errc::feature_disabled},
    {"feature is disabled", device_errc::feature_disabled},
    {"asks for all devices, but resource pool", device_errc::unusable_pool},
    {"exceeds the claim limit", device_errc::too_many_devices},
    {"negative", device_errc::bad_capacity},
    {"cannot be represented", device_errc::bad_capacity},
    {"no such key", device_errc::selector_failed},
    {"undeclared reference", device_errc::selector_failed},
    {"unsupported attribute value", device_errc::selector_failed},
    {"missing device class name", device_errc::unknown_class},
    {"could not retrieve device class", device_errc::unknown_class},
    {"a claim constraint would not be satisfied", device_errc::constraint_excludes_device},
    {"unsupported count mode", device_errc::unknown_kind},
    {"unsupported constraint type", device_errc::unknown_kind},
    {"unsupported selector type", device_errc::unknown_kind},
    {"CEL runtime error", device_errc::selector_failed},
};

std::string text_of(const std::vector<std::vector<std::string>>& claims) {
    std::string text;
    for (std::size_t claim = 0; claim < claims.size(); ++claim)
        for (const std::string& device : claims[claim])
            text += "\n      claim " + std::to_string(claim) + ": " + device;
    return text.empty() ? " no devices" : text;
}

std::string expected(const device_cases::device_case& of) {
    std::string text;
    for (const std::string& part : of.error)
        text += " \"" + part + '"';
    return text.empty() ? text_of(of.results) : " error" + text;
}

/// Returns whether the outcome is what the case expects.
bool agrees(const device_cases::device_case& of, const muster::device_allocation& got) {
    using muster::device_outcome;
    if (got.outcome == device_outcome::undecided)
        return false;
    if (of.error.empty())
        return got.outcome != device_outcome::failed && !got.has_invalid_pool &&
               device_cases::texts_of(got) == of.results;
    for (const std::string& part : of.error) {
        if (part.starts_with("invalid resource pools were encountered"))
            return got.outcome == device_outcome::none && got.has_invalid_pool;
        for (const auto& [text, code] : errors)
            if (part.find(text) != std::string::npos)
                return got.outcome == device_outcome::failed && got.error == code;
    }
    return false;
}

std::string outcome(const muster::device_allocation& got) {
    using muster::device_outcome;
    switch (got.outcome) {
    case device_outcome::allocated:
        return text_of(device_cases::texts_of(got));
    case device_outcome::none:
        return got.has_invalid_pool ? " no devices, with an invalid pool" : " no devices";
    case device_outcome::undecided:
        return " undecided";
    case device_outcome::failed:
        return " error \"" + std::string(message(got.error)) + ": " + got.text + '"';
    }
    return "";
}

bool check(const boost::json::object& source) {
    const auto one = device_cases::reader(source).read();
    const auto pools = muster::gather_pools(one.views, one.features);
    const auto got =
        muster::allocate_devices(pools, one.usage, one.classes, one.claims, one.features, 100'000);
    if (agrees(one, got))
        return true;
    std::printf("  %s\n    expected:%s\n    got:%s\n", one.name.c_str(), expected(one).c_str(),
                outcome(got).c_str());
    return false;
}

} // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        std::fputs("usage: check_device_cases FILE.json...\n", stderr);
        return 2;
    }
    std::size_t surprises = 0;
    for (int index = 1; index < count; ++index) {
        try {
            std::ostringstream text;
            text << std::ifstream(arguments[index]).rdbuf();
            const auto cases = boost::json::parse(text.str());
            std::size_t agreeing = 0;
            std::size_t listed = 0;
            for (const auto& each : cases.as_array()) {
                const auto& source = each.as_object();
                const bool same = check(source);
                agreeing += same ? 1U : 0U;
                const auto known = differences.find(std::string(source.at("name").as_string()));
                if (known != differences.end()) {
                    ++listed;
                    std::printf("    listed as different: %s\n", known->second.c_str());
                }
                surprises += same == (known == differences.end()) ? 0U : 1U;
            }
            std::printf("%s: %zu of %zu cases agree, %zu are listed as different\n",
                        arguments[index], agreeing, cases.as_array().size(), listed);
            surprises += agreeing == 0 ? 1U : 0U;
        } catch (const std::exception& why) {
            std::fprintf(stderr, "%s: %s\n", arguments[index], why.what());
            return 2;
        }
    }
    return surprises == 0 ? 0 : 1;
}
