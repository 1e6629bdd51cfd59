// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "footprint.hpp"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <cstddef>
#include <cstdint>
#include <optional>

#include "muster_engine.hpp"
#include "workload.hpp"

namespace bench {

namespace footprint_runs {

/// Bytes of the heap in use, where the C library tells.
inline std::optional<std::size_t> heap_in_use() {
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
#endif
#endif
    return std::nullopt;
}

inline std::optional<double> grown(const std::optional<std::size_t>& from,
                                   const std::optional<std::size_t>& to, std::size_t objects) {
    if (!from || !to)
        return std::nullopt;
    return (static_cast<double>(*to) - static_cast<double>(*from)) / static_cast<double>(objects);
}

template<std::size_t Width>
gang_spec<Width> equal_members(std::int64_t count) {
    role_spec<Width> role;
    role.request[cpu] = 100;
    role.request[memory] = gibibyte;
    role.request[pods] = 1;
    role.minimum = count;
    role.desired = count;
    return {{role}, no_pool};
}

} // namespace footprint_runs

template<std::size_t Width>
footprint_report measure_footprint(std::size_t nodes) {
    using namespace footprint_runs;
    constexpr std::size_t gangs = 2000;
    footprint_report report;
    report.nodes = nodes;
    workload_options work;
    work.nodes = nodes;
    const std::vector<node_spec<Width>> specs = make_nodes<Width>(work);
    const auto empty = heap_in_use();
    muster_engine<Width> engine(specs);
    const auto with_nodes = heap_in_use();
    static_cast<void>(engine.start(engine.submit(equal_members<Width>(1))));
    const auto with_index = heap_in_use();
    report.index_per_node = engine.index_bytes();
    if (report.index_per_node)
        *report.index_per_node /= static_cast<double>(nodes);
    report.model_per_node = grown(empty, with_nodes, nodes);
    report.first_decision_per_node = grown(with_nodes, with_index, nodes);

    // What gangs of 192 members need more than those of 64 is that of 128 members.
    const auto before = heap_in_use();
    for (std::size_t each = 0; each < gangs; ++each)
        static_cast<void>(engine.submit(equal_members<Width>(64)));
    const auto small = heap_in_use();
    for (std::size_t each = 0; each < gangs; ++each)
        static_cast<void>(engine.submit(equal_members<Width>(192)));
    const auto large = heap_in_use();
    const auto first = grown(before, small, gangs);
    const auto second = grown(small, large, gangs);
    if (first && second) {
        report.model_per_pod = (*second - *first) / 128.0;
        report.model_per_gang = *first - 64.0 * *report.model_per_pod;
    }
    return report;
}

} // namespace bench
