// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <muster/base/checked.hpp>

namespace muster {
inline namespace v0_1 {

/// A set of devices of one node that a request can get together.
struct device_partition {
    /// Indices of the devices, in the order in which they are given to a request. An index that is
    /// too large stands for a device that the node lacks.
    std::vector<std::size_t> devices;
    /// Partitions with a smaller score are tried first.
    std::int64_t score = 0;
    /// In thousandths of the unit of the node's system; absent = unknown.
    std::optional<std::int64_t> bandwidth_milli = {};
    /// The number of devices of the requests that the partition is for; absent = that of `devices`.
    /// A partition with another number of devices is never given.
    std::optional<std::size_t> asked = {};

    [[nodiscard]] std::size_t count() const noexcept { return asked.value_or(devices.size()); }

    friend bool operator==(const device_partition&, const device_partition&) = default;
};

/// The partitions of a node. Requests for several numbers of devices have different partitions.
struct partition_table {
    /// In the order of the node's table.
    std::vector<device_partition> partitions = {};
    /// Requests for whole devices get partitions only.
    bool is_required = false;

    friend bool operator==(const partition_table&, const partition_table&) = default;
};

/// How a request uses the partitions of its node. A partition need not lie at one place, even if
/// the request needs devices at one place (`share_request::within`).
struct partition_wish {
    /// True: only the devices of a partition serve the request. False: partitions are tried first.
    bool is_required = false;
    /// Only partitions of the least score will do.
    bool least_score_only = false;
    /// Least bandwidth; a partition of unknown bandwidth does not suffice. Absent = any.
    std::optional<std::int64_t> bandwidth_milli = {};

    friend bool operator==(const partition_wish&, const partition_wish&) = default;
};

namespace detail {

/// A partition that should stay whole, and its weight.
struct weighted_partition {
    const device_partition* partition = nullptr;
    int128 weight = 0;
};

/// Returns the partitions that a choice of `count` devices should leave whole: those of the least
/// score for 8, 4 and 2 devices, but not for fewer than `count`, without a used device. A partition
/// of 8 devices weighs 100 times as much as one of 4. O(partitions × devices).
[[nodiscard]] inline std::vector<weighted_partition>
partitions_to_keep(const partition_table& table, std::size_t count, const std::vector<bool>& used) {
    std::vector<weighted_partition> kept;
    int128 weight = 10'000;
    for (const std::size_t size : {std::size_t{8}, std::size_t{4}, std::size_t{2}}) {
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (const device_partition& each : table.partitions)
            if (each.count() == size)
                least = std::min(least, each.score);
        const auto is_used = [&](std::size_t index) { return index < used.size() && used[index]; };
        for (const device_partition& each : table.partitions)
            if (size >= count && each.count() == size && each.score == least &&
                std::none_of(each.devices.begin(), each.devices.end(), is_used))
                kept.push_back({&each, weight * each.score});
        weight /= 100;
    }
    return kept;
}

/// Returns the sum of the weights of the partitions that share no device with the chosen one.
/// O(kept × devices).
[[nodiscard]] inline int128 weight_left(const std::vector<weighted_partition>& kept,
                                        const device_partition& chosen, std::size_t devices) {
    // All devices that the node lacks have one flag.
    std::vector<bool> is_taken(devices + 1);
    for (const std::size_t index : chosen.devices)
        is_taken[std::min(index, devices)] = true;
    int128 sum = 0;
    for (const weighted_partition& each : kept)
        if (std::none_of(each.partition->devices.begin(), each.partition->devices.end(),
                         [&](std::size_t index) { return is_taken[std::min(index, devices)]; }))
            sum += each.weight;
    return sum;
}

} // namespace detail

/// Returns the partitions of `count` devices that suit the wish, best first: by score, smallest
/// first; then by the partitions that they leave whole; ties in the order of the table. A partition
/// suits if it has only devices that are unused and `accepted`. Koordinator 1.8,
/// pkg/scheduler/plugins/deviceshare/allocator_gpu.go. Precondition: both vectors have a value for
/// each device of the node. O(partitions² × devices).
[[nodiscard]] inline std::vector<const device_partition*>
suiting_partitions(const partition_table& table, std::size_t count, const partition_wish& wish,
                   const std::vector<bool>& used, const std::vector<bool>& accepted) {
    struct entry {
        std::int64_t score;
        int128 left;
        const device_partition* partition;
    };
    std::vector<entry> entries;
    const auto kept = detail::partitions_to_keep(table, count, used);
    std::optional<std::int64_t> least;
    for (const device_partition& each : table.partitions)
        if (each.count() == count)
            least = std::min(least.value_or(each.score), each.score);
    for (const device_partition& each : table.partitions) {
        if (each.count() != count || each.devices.size() != count ||
            (wish.least_score_only && each.score != *least))
            continue;
        if (wish.bandwidth_milli &&
            (!each.bandwidth_milli || *each.bandwidth_milli < *wish.bandwidth_milli))
            continue;
        if (std::all_of(each.devices.begin(), each.devices.end(), [&](std::size_t index) {
                return index < used.size() && accepted[index] && !used[index];
            }))
            entries.push_back({each.score, detail::weight_left(kept, each, used.size()), &each});
    }
    std::stable_sort(entries.begin(), entries.end(), [](const entry& lhs, const entry& rhs) {
        return lhs.score != rhs.score ? lhs.score < rhs.score : lhs.left > rhs.left;
    });
    std::vector<const device_partition*> sorted;
    for (const entry& each : entries)
        sorted.push_back(each.partition);
    return sorted;
}

} // namespace v0_1
} // namespace muster
