// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster.hpp"
#include "random.hpp"

namespace bench {

/// Requests from a catalogue of 25, or every one of its own, to the thousandth and the byte.
enum class request_regime : std::uint8_t { catalogue, random };

[[nodiscard]] constexpr const char* name_of(request_regime regime) noexcept {
    return regime == request_regime::catalogue ? "catalogue" : "random";
}

struct workload_options {
    std::size_t nodes = 1000;
    request_regime requests = request_regime::catalogue;
    std::uint64_t seed = 1;
    /// Allocatable memory differs from node to node by up to so much.
    std::int64_t memory_jitter_percent = 0;
    /// Label classes: every node carries one, and four gangs of five select one.
    std::int32_t pools = 1;
    /// Draw the pools but let nobody select any: the clean case of the same workload.
    bool without_selectors = false;
    std::int64_t largest_gang = 1024;
};

inline constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

namespace detail {

struct node_shape {
    std::int64_t percent, cores, gibibytes, gpus;
};
inline constexpr std::array<node_shape, 5> node_shapes{
    {{40, 16, 64, 0}, {25, 64, 256, 0}, {10, 96, 768, 0}, {15, 96, 1024, 8}, {10, 64, 512, 4}}};

/// Thousandths of a core, gibibytes, devices.
struct request_shape {
    std::int64_t cpu, gibibytes, gpus;
};
inline constexpr std::array<request_shape, 14> plain_requests{{{500, 1, 0},
                                                               {1000, 2, 0},
                                                               {1000, 4, 0},
                                                               {1000, 8, 0},
                                                               {2000, 4, 0},
                                                               {2000, 8, 0},
                                                               {2000, 16, 0},
                                                               {4000, 8, 0},
                                                               {4000, 16, 0},
                                                               {4000, 32, 0},
                                                               {8000, 16, 0},
                                                               {8000, 32, 0},
                                                               {12000, 48, 0},
                                                               {16000, 32, 0}}};
inline constexpr std::array<request_shape, 6> worker_requests{{{4000, 32, 1},
                                                               {8000, 64, 1},
                                                               {12000, 96, 1},
                                                               {16000, 128, 2},
                                                               {32000, 256, 4},
                                                               {90000, 900, 8}}};
inline constexpr std::array<request_shape, 5> helper_requests{
    {{500, 2, 0}, {1500, 3, 0}, {3000, 6, 0}, {3000, 24, 0}, {6000, 48, 0}}};

} // namespace detail

/// Nodes of five shapes. With random requests every node is one of its own: part of it is kept by
/// something else.
template<std::size_t Width>
[[nodiscard]] std::vector<node_spec<Width>> make_nodes(const workload_options& options) {
    random_numbers draw(options.seed * 2 + 1);
    std::vector<node_spec<Width>> nodes(options.nodes);
    for (node_spec<Width>& node : nodes) {
        std::int64_t chance = draw.between(1, 100);
        std::size_t of = 0;
        while (chance > detail::node_shapes[of].percent)
            chance -= detail::node_shapes[of++].percent;
        const detail::node_shape& shape = detail::node_shapes[of];
        node.allocatable[cpu] = shape.cores * 1000;
        node.allocatable[memory] = shape.gibibytes * gibibyte;
        node.allocatable[gpu] = shape.gpus;
        node.allocatable[pods] = 110;
        if constexpr (Width > nics) {
            node.allocatable[storage] = shape.cores * 20 * gibibyte;
            node.allocatable[hugepages] = of == 2 ? 64 * gibibyte : 0;
            node.allocatable[rdma] = shape.gpus;
            node.allocatable[nics] = shape.cores / 8;
        }
        if (options.requests == request_regime::random)
            for (const std::size_t column : {std::size_t{cpu}, std::size_t{memory}})
                node.allocatable[column] -= draw.between(0, node.allocatable[column] * 3 / 10);
        if (options.memory_jitter_percent > 0)
            node.allocatable[memory] -=
                draw.between(0, node.allocatable[memory] * options.memory_jitter_percent / 100);
        if (options.pools > 1) {
            const auto pool = static_cast<std::int32_t>(draw.between(0, options.pools - 1));
            node.pool = options.without_selectors ? no_pool : pool;
        }
    }
    return nodes;
}

/// Gangs without end: 60% of one role, 20% GPU workers, 12% launcher and workers, 8% chief, workers
/// and parameter servers; Pareto(0.9) sizes; 3 roles in 10 start with less than all members.
template<std::size_t Width>
class gang_stream {
public:
    explicit gang_stream(const workload_options& options)
        : options_(options), draw_(options.seed * 2) {}

    [[nodiscard]] gang_spec<Width> next() {
        gang_spec<Width> made;
        std::int64_t largest = options_.largest_gang;
        if (options_.pools > 1) {
            const bool selects = draw_.percent(80);
            const auto pool = static_cast<std::int32_t>(draw_.between(0, options_.pools - 1));
            if (selects && !options_.without_selectors)
                made.pool = pool;
            if (selects)
                largest = std::clamp<std::int64_t>(
                    static_cast<std::int64_t>(options_.nodes) / options_.pools, 4, largest);
        }
        const std::int64_t chance = draw_.between(1, 100);
        const std::int64_t size = pareto(largest);
        if (chance <= 60) {
            add(made, plain(), size);
        } else if (chance <= 80) {
            add(made, worker(), size < 64 ? size : 64);
        } else if (chance <= 92) {
            add(made, helper(), 1);
            add(made, plain(), size);
        } else {
            add(made, helper(), 1);
            add(made, plain(), size);
            add(made, helper(), 1 + size / 4);
        }
        return made;
    }

private:
    std::int64_t pareto(std::int64_t largest) {
        const double size = std::pow(draw_.fraction(), -1.0 / 0.9);
        return size >= static_cast<double>(largest) ? largest : static_cast<std::int64_t>(size);
    }

    void add(gang_spec<Width>& to, const amounts<Width>& request, std::int64_t desired) {
        std::int64_t minimum = desired;
        if (draw_.percent(30))
            minimum = std::max<std::int64_t>(1, desired * draw_.between(50, 95) / 100);
        to.roles.push_back({request, minimum, desired});
    }

    template<std::size_t Count>
    amounts<Width> from(const std::array<detail::request_shape, Count>& shapes) {
        const auto at = static_cast<std::size_t>(draw_.between(0, Count - 1));
        const detail::request_shape& shape = shapes[at];
        amounts<Width> request{};
        request[cpu] = shape.cpu;
        request[memory] = shape.gibibytes * gibibyte;
        request[gpu] = shape.gpus;
        request[pods] = 1;
        if constexpr (Width > nics) {
            request[storage] = shape.cpu / 250 * gibibyte;
            request[hugepages] = shape.gpus == 0 && shape.gibibytes == 48 ? 2 * gibibyte : 0;
            request[rdma] = shape.gpus == 8 ? 8 : 0;
            request[nics] = shape.gpus >= 4 ? 1 : 0;
        }
        if (options_.requests == request_regime::random)
            for (const std::size_t column : {std::size_t{cpu}, std::size_t{memory}})
                request[column] -= draw_.between(0, request[column] / 2);
        if constexpr (Width > nics)
            if (options_.requests == request_regime::random)
                request[storage] -= draw_.between(0, request[storage] / 2);
        return request;
    }
    amounts<Width> plain() { return from(detail::plain_requests); }
    amounts<Width> worker() { return from(detail::worker_requests); }
    amounts<Width> helper() { return from(detail::helper_requests); }

    workload_options options_;
    random_numbers draw_;
};

/// A named shape: so many equal gangs of so many equal pods, on equal nodes.
struct uniform_shape {
    const char* name;
    std::size_t nodes;
    std::size_t gangs;
    std::int64_t members;
    detail::node_shape node;
    detail::request_shape request;
};

/// kube-scheduler's own gang benchmarks on 5,000 nodes, and three more that are often asked for.
inline constexpr std::array<uniform_shape, 7> uniform_shapes{
    {{"1000 gangs x 3", 5000, 1000, 3, {100, 4, 32, 0}, {1000, 1, 0}},
     {"3000 gangs x 3", 5000, 3000, 3, {100, 4, 32, 0}, {1000, 1, 0}},
     {"3 gangs x 1000", 5000, 3, 1000, {100, 4, 32, 0}, {1000, 1, 0}},
     {"9 gangs x 1000", 5000, 9, 1000, {100, 4, 32, 0}, {1000, 1, 0}},
     {"500 gangs x 20", 1000, 500, 20, {100, 64, 256, 0}, {4000, 16, 0}},
     {"20 gangs x 500", 1000, 20, 500, {100, 64, 256, 0}, {4000, 16, 0}},
     {"1 gang x 10000", 1000, 1, 10000, {100, 64, 256, 0}, {4000, 16, 0}}}};

template<std::size_t Width>
[[nodiscard]] std::vector<node_spec<Width>> make_nodes(const uniform_shape& shape) {
    node_spec<Width> one;
    one.allocatable[cpu] = shape.node.cores * 1000;
    one.allocatable[memory] = shape.node.gibibytes * gibibyte;
    one.allocatable[gpu] = shape.node.gpus;
    one.allocatable[pods] = 110;
    return std::vector<node_spec<Width>>(shape.nodes, one);
}

template<std::size_t Width>
[[nodiscard]] gang_spec<Width> make_gang(const uniform_shape& shape) {
    role_spec<Width> role{{}, shape.members, shape.members};
    role.request[cpu] = shape.request.cpu;
    role.request[memory] = shape.request.gibibytes * gibibyte;
    role.request[gpu] = shape.request.gpus;
    role.request[pods] = 1;
    return {{role}, no_pool};
}

} // namespace bench
