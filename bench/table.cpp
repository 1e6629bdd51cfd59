// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include <muster/base/version.hpp>

#include "calibration.hpp"
#include "figures.hpp"

namespace bench {

namespace {

struct arguments {
    bool quick = false;
    /// Where to write the table, and from where to read what other programs of the run printed.
    std::string json, portable, footprint;
};

[[noreturn]] void usage() {
    std::fputs("bench_table [--quick] [--json FILE] [--portable FILE] [--footprint FILE]\n",
               stderr);
    std::exit(2);
}

arguments parse(int count, char** values) {
    arguments given;
    for (int at = 1; at < count; ++at) {
        const std::string_view word = values[at];
        std::string* file = word == "--json"        ? &given.json
                            : word == "--portable"  ? &given.portable
                            : word == "--footprint" ? &given.footprint
                                                    : nullptr;
        if (file && at + 1 < count)
            *file = values[++at];
        else if (word == "--quick")
            given.quick = true;
        else
            usage();
    }
    return given;
}

std::string machine() {
    std::ifstream from("/proc/cpuinfo");
    for (std::string line; std::getline(from, line);)
        if (line.starts_with("model name") && line.find(": ") != std::string::npos)
            return line.substr(line.find(": ") + 2);
    return "unknown";
}

measurements read_printed(const std::string& path) {
    measurements found;
    std::ifstream from(path);
    std::string what;
    double value = 0.0;
    while (from >> what >> value)
        found[what] = value;
    return found;
}

} // namespace

void say(const char* what) {
    std::fprintf(stderr, "measuring %s ...\n", what);
}

int run_table(int count, char** values, void (*rest)(report& to, bool quick)) {
    const arguments given = parse(count, values);
    report found;
    found.fact("machine", machine());
    found.fact("compiler", MUSTER_BENCH_COMPILER);
    found.fact("flags", MUSTER_BENCH_FLAGS);
    found.fact("muster", std::to_string(muster::library_version.major) + "." +
                             std::to_string(muster::library_version.minor) + "." +
                             std::to_string(muster::library_version.patch));
    found.fact("calibration kernel, ns per round", text(calibration_kernel()));
    say("admission");
    add_admission(found, given.quick, read_printed(given.portable));
    say("jitter and label classes");
    add_variants(found, given.quick);
    say("backlogs");
    add_backlogs(found, given.quick);
    say("topology");
    add_topology(found, given.quick);
    add_footprint(found, read_printed(given.footprint));
    say("gangs near capacity");
    add_near_capacity(found, given.quick);
    add_greedy_gap(found, given.quick);
    add_affinity(found, given.quick);
    rest(found, given.quick);
    add_complexities(found);
    found.fact("calibration kernel at the end", text(calibration_kernel()));
    found.print();
    std::printf("\n%zu figures missed\n", found.missed());
    if (!given.json.empty() && !found.write_json(given.json))
        fail("cannot write " + given.json);
    return EXIT_SUCCESS;
}

} // namespace bench
