// SPDX-License-Identifier: Apache-2.0

// check_share_cases [--quiet] FILE.json... runs cases of HAMi, Volcano and Koordinator through the
// readers of shared devices and allocate_shares(), and compares the outcomes: filters, registers,
// lists of devices, requests, and the devices that are chosen for a request. The name of a file is
// that of its system. Prints every difference, and for each system how many cases agree.
//
// Exits with 0 if at least 97 % of the cases of each system agree, all cases agree but those listed
// in device_cases/differences.hpp, and none of those does; else with 1. Exits with 2 if a file
// cannot be read.

#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "device_cases/differences.hpp"
#include "device_cases/hami.hpp"
#include "device_cases/koordinator.hpp"
#include "device_cases/volcano.hpp"

namespace {

using checker = std::string (*)(const boost::json::object&);

const std::map<std::string, checker, std::less<>> systems = {
    {"hami", share_cases::check_hami},
    {"koordinator", share_cases::check_koordinator},
    {"volcano", share_cases::check_volcano},
};

/// Returns how many cases are a surprise: they differ and are not listed, or agree and are.
std::size_t check(const std::string& file, bool quiet) {
    const std::string name = file.substr(file.rfind('/') + 1);
    const auto system = systems.find(name.substr(0, name.find_first_of(".-_")));
    if (system == systems.end())
        throw std::runtime_error("no system of this name");
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    const auto cases = boost::json::parse(text.str());
    std::size_t agreeing = 0;
    std::size_t listed = 0;
    std::size_t surprises = 0;
    std::size_t number = 0;
    for (const auto& each : cases.as_array()) {
        const auto& source = each.as_object();
        const std::string wrong = system->second(source);
        const std::string id = system->first + " " + std::string(source.at("name").as_string());
        const auto known = share_cases::differences.find(id);
        const bool is_listed = known != share_cases::differences.end();
        agreeing += wrong.empty() ? 1U : 0U;
        listed += is_listed ? 1U : 0U;
        surprises += wrong.empty() == is_listed ? 1U : 0U;
        ++number;
        if (!wrong.empty() && !quiet)
            std::printf("  %s: %s\n", id.c_str(), wrong.c_str());
        if (is_listed && !quiet)
            std::printf("    listed as different: %s\n", known->second.c_str());
    }
    std::printf("%s: %zu of %zu cases agree (%.1f %%), %zu are listed as different\n",
                system->first.c_str(), agreeing, number,
                100.0 * static_cast<double>(agreeing) / static_cast<double>(number), listed);
    return surprises + (agreeing * 100 < number * 97 ? 1U : 0U);
}

} // namespace

int main(int count, char** arguments) {
    const bool quiet = count > 1 && std::string_view(arguments[1]) == "--quiet";
    const int first = quiet ? 2 : 1;
    if (count <= first) {
        std::fputs("usage: check_share_cases [--quiet] FILE.json...\n", stderr);
        return 2;
    }
    std::size_t surprises = 0;
    for (int index = first; index < count; ++index) {
        try {
            surprises += check(arguments[index], quiet);
        } catch (const std::exception& why) {
            std::fprintf(stderr, "%s: %s\n", arguments[index], why.what());
            return 2;
        }
    }
    return surprises == 0 ? 0 : 1;
}
