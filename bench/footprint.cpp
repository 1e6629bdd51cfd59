// SPDX-License-Identifier: Apache-2.0
// What Muster keeps of a cluster, in bytes: a line for each, which bench_table reads. Bytes are the
// same however it is compiled.
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>

#include "muster_engine.hpp"
#include "workload.hpp"

namespace {

using namespace bench;

/// Bytes of the heap in use, where the C library tells.
std::optional<std::size_t> heap_in_use() {
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
#endif
#endif
    return std::nullopt;
}

std::optional<double> grown(const std::optional<std::size_t>& from,
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

void print(const char* what, std::size_t width, std::optional<double> bytes) {
    if (bytes)
        std::printf("%s-%zu %.1f\n", what, width, *bytes);
}

template<std::size_t Width>
void print_footprint(std::size_t nodes) {
    constexpr std::size_t gangs = 2000;
    workload_options work;
    work.nodes = nodes;
    const std::vector<node_spec<Width>> specs = make_nodes<Width>(work);
    const auto empty = heap_in_use();
    muster_engine<Width> engine(specs);
    const auto with_nodes = heap_in_use();
    static_cast<void>(engine.start(engine.submit(equal_members<Width>(1))));
    print("index", Width, static_cast<double>(engine.index_bytes()) / static_cast<double>(nodes));
    print("node", Width, grown(empty, with_nodes, nodes));

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
        const double per_pod = (*second - *first) / 128.0;
        print("pod", Width, per_pod);
        print("gang", Width, *first - 64.0 * per_pod);
    }
}

} // namespace

int main(int count, char** values) {
    const bool quick = count == 2 && std::string_view(values[1]) == "--quick";
    if (count > 1 && !quick) {
        std::fputs("bench_footprint [--quick]\n", stderr);
        return 2;
    }
    const std::size_t nodes = quick ? 20000 : 100000;
    std::printf("nodes %zu\n", nodes);
    print_footprint<4>(nodes);
    print_footprint<8>(nodes);
}
