// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {

/// What Muster does with an option of sbatch.
enum class option_use : std::uint8_t {
    honoured,   ///< read by read_job_request()
    irrelevant, ///< has no influence on where or when the job may start
    waits,      ///< bears on that and is not modelled: the job waits
};

enum class option_argument : std::uint8_t { none, required, optional };

struct option_spec {
    std::string_view name;
    option_argument argument = option_argument::required;
    option_use use = option_use::irrelevant;
    char letter = '\0'; ///< the short form; 0: none
    /// Of a heterogeneous job: each component starts without the option, where others are those of
    /// the component before (https://slurm.schedmd.com/heterogeneous_jobs.html).
    bool own = false;
};

namespace detail {

using enum option_use;
using enum option_argument;

/// The options of sbatch 26.11, and those of the plugin Pyxis (container-*), sorted by name.
inline constexpr std::array option_table{
    option_spec{"account", required, irrelevant, 'A'},
    option_spec{"acctg-freq"},
    option_spec{"array", required, honoured, 'a'},
    option_spec{"batch"},
    option_spec{"bb", required, waits, '\0', true},
    option_spec{"bbf", required, waits},
    option_spec{"begin", required, honoured, 'b'},
    option_spec{"chdir", required, irrelevant, 'D'},
    option_spec{"cluster-constraint", required, waits},
    option_spec{"clusters", required, waits, 'M'},
    option_spec{"comment"},
    option_spec{"consolidate-segments", none, waits, '\0', true},
    option_spec{"constraint", required, honoured, 'C', true},
    option_spec{"container"},
    option_spec{"container-entrypoint", none},
    option_spec{"container-entrypoint-log", none},
    option_spec{"container-env"},
    option_spec{"container-id"},
    option_spec{"container-image", required, honoured},
    option_spec{"container-mount-home", none},
    option_spec{"container-mounts"},
    option_spec{"container-name"},
    option_spec{"container-readonly", none},
    option_spec{"container-remap-root", none},
    option_spec{"container-save"},
    option_spec{"container-workdir"},
    option_spec{"container-writable", none},
    option_spec{"contiguous", none, waits, '\0', true},
    option_spec{"core-spec", required, waits, 'S', true},
    option_spec{"cores-per-socket", required, waits, '\0', true},
    option_spec{"cpu-freq", required, irrelevant, '\0', true},
    option_spec{"cpus-per-gpu", required, honoured, '\0', true},
    option_spec{"cpus-per-task", required, honoured, 'c', true},
    option_spec{"deadline", required, waits},
    option_spec{"delay-boot"},
    option_spec{"dependency", required, waits, 'd'},
    option_spec{"distribution", required, irrelevant, 'm', true},
    option_spec{"error", required, irrelevant, 'e'},
    option_spec{"exclude", required, honoured, 'x'},
    option_spec{"exclusive", optional, honoured, '\0', true},
    option_spec{"export"},
    option_spec{"export-file"},
    option_spec{"extra", required, waits},
    option_spec{"extra-node-info", required, waits, 'B', true},
    option_spec{"get-user-env", none},
    option_spec{"gid"},
    option_spec{"gpu-bind", required, irrelevant, '\0', true},
    option_spec{"gpu-freq", required, irrelevant, '\0', true},
    option_spec{"gpus", required, honoured, 'G', true},
    option_spec{"gpus-per-node", required, honoured, '\0', true},
    option_spec{"gpus-per-socket", required, waits, '\0', true},
    option_spec{"gpus-per-task", required, honoured, '\0', true},
    option_spec{"gres", required, honoured, '\0', true},
    option_spec{"gres-flags", required, honoured, '\0', true},
    option_spec{"help", none, irrelevant, 'h'},
    option_spec{"hint", required, honoured, '\0', true},
    option_spec{"hold", none, waits, 'H'},
    option_spec{"ignore-pbs", none},
    option_spec{"input", required, irrelevant, 'i'},
    option_spec{"job-name", required, honoured, 'J'},
    option_spec{"kill-on-invalid-dep"},
    option_spec{"licenses", required, waits, 'L', true},
    option_spec{"mail-type", required, irrelevant, '\0', true},
    option_spec{"mail-user", required, irrelevant, '\0', true},
    option_spec{"mcs-label", required, waits},
    option_spec{"mem", required, honoured},
    option_spec{"mem-bind", required, irrelevant, '\0', true},
    option_spec{"mem-per-cpu", required, honoured, '\0', true},
    option_spec{"mem-per-gpu", required, honoured, '\0', true},
    option_spec{"mem-update"},
    option_spec{"mincpus", required, honoured, '\0', true},
    option_spec{"network", required, waits, '\0', true},
    option_spec{"nice", optional, honoured},
    option_spec{"no-container-entrypoint", none},
    option_spec{"no-container-entrypoint-log", none},
    option_spec{"no-container-mount-home", none},
    option_spec{"no-container-remap-root", none},
    option_spec{"no-kill", optional, irrelevant, 'k'},
    option_spec{"no-requeue", none},
    option_spec{"nodefile", required, waits, 'F', true},
    option_spec{"nodelist", required, honoured, 'w', true},
    option_spec{"nodes", required, honoured, 'N', true},
    option_spec{"ntasks", required, honoured, 'n', true},
    option_spec{"ntasks-per-core", required, waits, '\0', true},
    option_spec{"ntasks-per-gpu", required, honoured, '\0', true},
    option_spec{"ntasks-per-node", required, honoured, '\0', true},
    option_spec{"ntasks-per-socket", required, waits, '\0', true},
    option_spec{"oom-kill-step", optional},
    option_spec{"open-mode"},
    option_spec{"output", required, irrelevant, 'o'},
    option_spec{"overcommit", none, honoured, 'O', true},
    option_spec{"oversubscribe", none, irrelevant, 's', true},
    option_spec{"parsable", none},
    option_spec{"partition", required, honoured, 'p', true},
    option_spec{"prefer", required, honoured},
    option_spec{"priority", required, honoured},
    option_spec{"profile"},
    option_spec{"propagate", optional},
    option_spec{"qos", required, honoured, 'q'},
    option_spec{"quiet", none, irrelevant, 'Q'},
    option_spec{"reboot", none},
    option_spec{"requeue", optional},
    option_spec{"reservation", required, waits},
    option_spec{"resources", required, waits, '\0', true},
    option_spec{"resv-ports", optional, irrelevant, '\0', true},
    option_spec{"runtime"},
    option_spec{"segment", required, waits, '\0', true},
    option_spec{"signal"},
    option_spec{"sockets-per-node", required, waits, '\0', true},
    option_spec{"spread-job", none, honoured, '\0', true},
    option_spec{"spread-segments", none, waits, '\0', true},
    option_spec{"stepmgr", none},
    option_spec{"switches", required, honoured, '\0', true},
    option_spec{"tasks-per-node", required, honoured, '\0', true},
    option_spec{"test-only", none},
    option_spec{"thread-spec", required, waits, '\0', true},
    option_spec{"threads-per-core", required, waits, '\0', true},
    option_spec{"time", required, honoured, 't'},
    option_spec{"time-min"},
    option_spec{"tmp", required, honoured, '\0', true},
    option_spec{"tres-bind", required, irrelevant, '\0', true},
    option_spec{"tres-per-task", required, honoured, '\0', true},
    option_spec{"uid"},
    option_spec{"usage", none},
    option_spec{"use-min-nodes", none, honoured, '\0', true},
    option_spec{"verbose", none, irrelevant, 'v'},
    option_spec{"version", none, irrelevant, 'V'},
    option_spec{"wait", none, irrelevant, 'W'},
    option_spec{"wait-all-nodes"},
    option_spec{"wckey"},
    option_spec{"wrap"},
};
static_assert(std::ranges::is_sorted(option_table, {}, &option_spec::name));

} // namespace detail

/// The options that a long name may stand for: the one of this name, else all that begin with it.
/// O(options).
[[nodiscard]] inline std::vector<const option_spec*> options_named(std::string_view name) {
    std::vector<const option_spec*> found;
    for (const option_spec& each : detail::option_table) {
        if (each.name == name)
            return {&each};
        if (each.name.starts_with(name))
            found.push_back(&each);
    }
    return found;
}

/// nullptr if there is no such short option.
[[nodiscard]] inline const option_spec* option_of_letter(char letter) {
    for (const option_spec& each : detail::option_table)
        if (each.letter == letter && letter != '\0')
            return &each;
    return nullptr;
}

[[nodiscard]] inline std::vector<std::string> option_names() {
    std::vector<std::string> names;
    for (const option_spec& each : detail::option_table)
        names.emplace_back(each.name);
    return names;
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
