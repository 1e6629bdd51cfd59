// SPDX-License-Identifier: Apache-2.0

// check_peer_cases [--core] [--list] [--vary N] FILE.json... runs the cases of other schedulers'
// test tables through Muster, each with its peer's profile, and compares what becomes of the pods
// with what the peer's test asserts. Prints for every file how many cases ran, which were skipped
// and why, over-commits, partial gangs, and every disagreement with both outcomes; closes with "N
// passed, N failed": those that agree, and those that do not or in which Muster itself over-commits
// a node, leaves a gang partly started or cannot take the input. --core runs only cases marked as
// core, --list names those that agree, too. --vary runs N variants of each case as well, which are
// made by chance, the same ones each time: nothing is asserted of them but that Muster makes no
// such fault; and what must not matter (the order of nodes, the unit of amounts) must not.
//
// Exits with 0 when Muster made no such fault and agreement on core cases is what it must be (97%
// where only pods are placed, 85% where some are evicted), 1 when not, 2 when a file cannot be
// read.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "peer_cases/judge.hpp"
#include "peer_cases/peer_case.hpp"
#include "peer_cases/read.hpp"
#include "peer_cases/run.hpp"
#include "peer_cases/vary.hpp"

namespace {

struct tally {
    std::size_t agree = 0;
    std::size_t on_nodes = 0;
    std::size_t disagree = 0;
    [[nodiscard]] std::size_t all() const { return agree + disagree; }
};

struct report {
    std::size_t ran = 0;
    std::size_t over_commits = 0;
    std::size_t partial = 0;
    /// Over-commits, partial gangs, cases that cannot be read or are refused.
    std::size_t faults = 0;
    std::size_t passed = 0;
    std::size_t agreeing = 0;
    std::map<std::string, std::vector<std::string>> skipped;
    std::vector<std::string> apart;
    /// By what the peer ran.
    std::map<std::string, tally> kinds;
    tally allocating;
    tally evicting;
};

bool only_allocates(const peer_cases::peer_case& of) {
    for (const std::string& action : of.actions)
        if (action != "enqueue" && action != "allocate" && action != "backfill" &&
            action != "end-to-end")
            return false;
    return true;
}

std::string kind_of(const peer_cases::peer_case& of) {
    std::string kind;
    for (const std::string& action : of.actions)
        kind += (kind.empty() ? "" : ", ") + action;
    return of.rounds_until_match > 0 ? "rounds of all actions" : kind;
}

void count(tally& to, const peer_cases::judgement& by) {
    to.agree += by.agrees ? 1 : 0;
    to.on_nodes += by.agrees_on_nodes ? 1 : 0;
    to.disagree += by.agrees ? 0 : 1;
}

void count(const peer_cases::peer_case& of, const peer_cases::judgement& by, report& into) {
    count(into.kinds[kind_of(of)], by);
    if (of.core)
        count(only_allocates(of) ? into.allocating : into.evicting, by);
}

void print_lines(const char* what, const std::string& name, const std::vector<std::string>& lines) {
    std::printf("  %s: %s\n", what, name.c_str());
    for (const std::string& line : lines)
        std::printf("      %s\n", line.c_str());
}

const char* deliberate(const peer_cases::peer_case& of);

std::vector<std::string> with_reason(const peer_cases::peer_case& of,
                                     std::vector<std::string> lines) {
    const std::string why = deliberate(of);
    if (!why.empty())
        lines.push_back("deliberate: " + why);
    return lines;
}

void check(const peer_cases::peer_case& of, bool list, report& into) {
    ++into.ran;
    peer_cases::outcome got;
    try {
        if (!of.unreadable.empty())
            throw peer_cases::unreadable(of.unreadable);
        got = peer_cases::run(of);
    } catch (const std::exception& why) {
        // Whatever becomes of the others, this one differs.
        ++into.faults;
        count(of, {.agrees = false, .agrees_on_nodes = false, .differences = {}}, into);
        print_lines("FAILED", of.name, {why.what()});
        return;
    }
    const auto partial_before = peer_cases::partial_gangs(of, got.before);
    const bool anomaly = of.has("fixture-anomaly");
    if (anomaly || !partial_before.empty())
        into.apart.push_back(
            of.name + (anomaly ? ": marked as fixture-anomaly" : ": begins with a partial gang"));
    bool failed = false;
    if (const auto over = peer_cases::over_committed(of, got); !over.empty() && !anomaly) {
        ++into.over_commits;
        failed = true;
        print_lines("OVER-COMMIT", of.name, over);
    }
    if (const auto partial = peer_cases::partial_gangs(of, got.after);
        !partial.empty() && !anomaly && partial_before.empty()) {
        ++into.partial;
        failed = true;
        print_lines("PARTIAL GANG", of.name, partial);
    }
    into.faults += failed ? 1 : 0;
    const peer_cases::judgement judged = peer_cases::judge(of, got);
    count(of, judged, into);
    into.agreeing += judged.agrees ? 1 : 0;
    into.passed += judged.agrees && !failed ? 1 : 0;
    if (!judged.agrees)
        print_lines(of.core ? "disagrees" : "disagrees (not core)",
                    of.name + " [" + kind_of(of) + "]", with_reason(of, judged.differences));
    else if (list)
        std::printf("  agrees: %s\n", of.name.c_str());
}

struct variants {
    std::size_t ran = 0;
    std::size_t over_commits = 0;
    std::size_t partial = 0;
    std::size_t refused = 0;
    std::size_t unequal = 0;

    [[nodiscard]] bool faultless() const {
        return over_commits == 0 && partial == 0 && refused == 0 && unequal == 0;
    }
};

void check_variant(const peer_cases::peer_case& of, const std::string& name, variants& into) {
    ++into.ran;
    try {
        const peer_cases::outcome got = peer_cases::run(of);
        if (const auto over = peer_cases::over_committed(of, got); !over.empty()) {
            ++into.over_commits;
            print_lines("OVER-COMMIT", name, over);
        }
        auto partial = peer_cases::partial_gangs(of, got.after);
        const auto before = peer_cases::partial_gangs(of, got.before);
        std::erase_if(partial, [&](const std::string& gang) {
            return std::ranges::find(before, gang) != before.end();
        });
        if (!partial.empty()) {
            ++into.partial;
            print_lines("PARTIAL GANG", name, partial);
        }
    } catch (const std::exception& why) {
        ++into.refused;
        print_lines("FAILED", name, {why.what()});
    }
}

/// Of one case: what must not matter, and `count` variants.
void check_variants(const peer_cases::peer_case& of, std::size_t count, variants& into) {
    for (const auto& [what, same] : peer_cases::equals_of(of)) {
        ++into.ran;
        if (peer_cases::run(same).after != peer_cases::run(of).after) {
            ++into.unequal;
            print_lines("DIFFERS FROM ITSELF", of.name, {what});
        }
    }
    for (std::size_t number = 0; number < count; ++number)
        check_variant(peer_cases::varied(of, number),
                      of.name + ", variant " + std::to_string(number), into);
}

/// Why Muster means to differ in cases of this kind; empty when it does not.
const char* deliberate(const peer_cases::peer_case& of) {
    if (of.acts("shuffle"))
        return "nobody is evicted unless a gang starts by it";
    const bool never = of.has("preemption-policy") && of.acts("reclaim");
    if (never)
        return "nobody is evicted for a gang of which some may not preempt: it would not start";
    if (of.from == peer_cases::peer::volcano && of.has("topology") && of.acts("allocate"))
        return "a gang that fits starts, though the peer's greedy order does not get there";
    return "";
}

void print_tally(const std::string& what, const tally& of) {
    if (of.all() == 0)
        return;
    const double share = 100.0 * static_cast<double>(of.agree) / static_cast<double>(of.all());
    std::printf("  %s: %zu agree, %zu disagree (%.1f%%); on nodes, too: %zu\n", what.c_str(),
                of.agree, of.disagree, share, of.on_nodes);
}

void print(const report& of) {
    std::size_t skipped = 0;
    for (const auto& [reason, names] : of.skipped)
        skipped += names.size();
    std::printf("  cases run: %zu, skipped: %zu\n", of.ran, skipped);
    for (const auto& [reason, names] : of.skipped)
        std::printf("  skipped %zu: %s\n", names.size(), reason.c_str());
    for (const std::string& name : of.apart)
        std::printf("  apart: %s\n", name.c_str());
    std::printf("  over-commits: %zu\n  partial gangs: %zu\n", of.over_commits, of.partial);
    std::printf("  agreeing: %zu, disagreeing: %zu\n", of.agreeing, of.ran - of.agreeing);
    for (const auto& [kind, counts] : of.kinds)
        print_tally(kind, counts);
    print_tally("core, placing only", of.allocating);
    print_tally("core, evicting", of.evicting);
}

bool reaches(const tally& of, std::size_t percent) {
    return of.agree * 100 >= of.all() * percent;
}

} // namespace

int main(int argc, char** argv) {
    bool core = false;
    bool list = false;
    std::size_t vary = 0;
    std::vector<std::string> files;
    for (int at = 1; at < argc; ++at) {
        const std::string_view word = argv[at];
        if (word == "--core")
            core = true;
        else if (word == "--list")
            list = true;
        else if (word == "--vary" && at + 1 < argc)
            vary = std::strtoul(argv[++at], nullptr, 10);
        else
            files.emplace_back(word);
    }
    if (files.empty()) {
        std::fputs("usage: check_peer_cases [--core] [--list] [--vary N] FILE.json...\n", stderr);
        return 2;
    }
    std::size_t passed = 0;
    std::size_t failed = 0;
    std::size_t faults = 0;
    variants made_by_chance;
    tally allocating;
    tally evicting;
    for (const std::string& name : files) {
        std::ifstream file{name, std::ios::binary};
        std::ostringstream text;
        text << file.rdbuf();
        if (!file) {
            std::fprintf(stderr, "check_peer_cases: cannot read %s\n", name.c_str());
            return 2;
        }
        std::vector<peer_cases::peer_case> cases;
        try {
            cases = peer_cases::read_cases(text.str());
        } catch (const peer_cases::unreadable& why) {
            std::fprintf(stderr, "check_peer_cases: %s: %s\n", name.c_str(), why.what());
            return 2;
        }
        std::printf("%s\n", name.c_str());
        report made;
        for (const peer_cases::peer_case& each : cases) {
            if (core && !each.core)
                continue;
            if (const std::string why = peer_cases::cannot_run(each); !why.empty()) {
                made.skipped[why].push_back(each.name);
                continue;
            }
            check(each, list, made);
            if (vary > 0 && each.unreadable.empty())
                check_variants(each, vary, made_by_chance);
        }
        print(made);
        passed += made.passed;
        failed += made.ran - made.passed;
        faults += made.faults;
        for (auto [all, mine] :
             {std::pair(&allocating, &made.allocating), std::pair(&evicting, &made.evicting)}) {
            all->agree += mine->agree;
            all->on_nodes += mine->on_nodes;
            all->disagree += mine->disagree;
        }
    }
    std::printf("all files\n");
    print_tally("core, placing only", allocating);
    print_tally("core, evicting", evicting);
    if (vary > 0)
        std::printf("  variants run: %zu, over-commits: %zu, partial gangs: %zu, refused: %zu, "
                    "differing from what is the same: %zu\n",
                    made_by_chance.ran, made_by_chance.over_commits, made_by_chance.partial,
                    made_by_chance.refused, made_by_chance.unequal);
    std::printf("%zu passed, %zu failed\n", passed, failed);
    return faults == 0 && made_by_chance.faultless() && reaches(allocating, 97) &&
                   reaches(evicting, 85)
               ? 0
               : 1;
}
