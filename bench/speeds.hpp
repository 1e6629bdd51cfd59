// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>

#include "churn.hpp"

namespace bench {

/// The headline runs: best-fit, 4 kinds, utilisation 0.8.
inline constexpr std::array headline_requests{request_regime::catalogue, request_regime::random};
inline constexpr std::array<std::size_t, 3> headline_sizes{1000, 10000, 100000};

[[nodiscard]] inline churn_options headline(request_regime requests, std::size_t nodes,
                                            bool quick) {
    churn_options options;
    options.work.nodes = nodes;
    options.work.requests = requests;
    options.gangs = quick ? 1500 : 3000;
    return options;
}

/// The same where it stands beside the headline runs: the quick table makes do with one of each.
[[nodiscard]] inline churn_options beside_headline(request_regime requests, std::size_t nodes,
                                                   bool quick) {
    churn_options options = headline(requests, nodes, quick);
    if (quick)
        options.repeats = 1;
    return options;
}

/// What another program of the same run printed: a name and a number a line.
using measurements = std::map<std::string, double>;

/// Of the nanoseconds per pod of a headline run.
[[nodiscard]] inline std::string speed_key(request_regime requests, std::size_t nodes) {
    return std::string(name_of(requests)) + "-" + std::to_string(nodes);
}

} // namespace bench
