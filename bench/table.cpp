// SPDX-License-Identifier: Apache-2.0
// Measures Muster against A and A2 in one process and prints one table; README.md says what is
// what.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include <muster/base/version.hpp>

#include "calibration.hpp"
#include "figures.hpp"

namespace {

struct arguments {
    bool quick = false;
    /// Where to write the table, and from where to read what the portable build printed.
    std::string json, portable;
};

[[noreturn]] void usage() {
    std::fputs("bench_table [--quick] [--json FILE] [--portable FILE]\n", stderr);
    std::exit(2);
}

arguments parse(int count, char** values) {
    arguments given;
    for (int at = 1; at < count; ++at) {
        const std::string_view word = values[at];
        std::string* file = word == "--json"       ? &given.json
                            : word == "--portable" ? &given.portable
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

bench::speeds read_speeds(const std::string& path) {
    bench::speeds found;
    std::ifstream from(path);
    std::string what;
    double value = 0.0;
    while (from >> what >> value)
        found[what] = value;
    return found;
}

void say(const char* what) {
    std::fprintf(stderr, "measuring %s ...\n", what);
}

} // namespace

int main(int count, char** values) {
    const arguments given = parse(count, values);
    bench::report found;
    found.fact("machine", machine());
    found.fact("compiler", MUSTER_BENCH_COMPILER);
    found.fact("flags", MUSTER_BENCH_FLAGS);
    found.fact("muster", std::to_string(muster::library_version.major) + "." +
                             std::to_string(muster::library_version.minor) + "." +
                             std::to_string(muster::library_version.patch));
    found.fact("calibration kernel, ns per round", bench::text(bench::calibration_kernel()));
    say("admission");
    bench::add_admission(found, given.quick, read_speeds(given.portable));
    say("jitter and label classes");
    bench::add_variants(found, given.quick);
    say("backlogs");
    bench::add_backlogs(found, given.quick);
    say("a tree of queues");
    bench::add_queue_tree(found, given.quick);
    say("topology");
    bench::add_topology(found, given.quick);
    say("memory");
    bench::add_footprint(found, given.quick);
    say("gangs near capacity");
    bench::add_near_capacity(found, given.quick);
    bench::add_greedy_gap(found, given.quick);
    bench::add_affinity(found, given.quick);
    say("evictions");
    bench::add_evictions(found, given.quick);
    say("consolidation");
    bench::add_consolidation(found, given.quick);
#ifdef MUSTER_BENCH_JOBS
    say("jobs");
    bench::add_jobs(found, given.quick);
#endif
    if (!given.quick) {
        say("equal gangs");
        bench::add_uniform_shapes(found);
        say("more of admission");
        bench::add_more_admission(found);
    }
    bench::add_complexities(found);
    found.fact("calibration kernel at the end", bench::text(bench::calibration_kernel()));
    found.print();
    std::printf("\n%zu figures missed\n", found.missed());
    if (!given.json.empty() && !found.write_json(given.json))
        bench::fail("cannot write " + given.json);
    return EXIT_SUCCESS;
}
