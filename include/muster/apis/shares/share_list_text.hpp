// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/shares/share_objects.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Reads the list of a pod's devices of HAMi and Volcano: `;` between containers, `:` after each
/// device, and `id,type,memory,cores` for each device, with memory in MiB and cores in percent. In
/// `id[name]` the name is that of an instance of the device. Ids must not have commas. Appends the
/// shares to `to`. Returns an error message; empty if there is none. O(text).
[[nodiscard]] inline std::string read_share_list(std::string_view text,
                                                 std::vector<held_share>& to) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const std::vector<std::string_view> containers = split_text(text, ';');
    for (std::size_t container = 0; container < containers.size(); ++container)
        for (std::string_view entry : split_text(containers[container], ':')) {
            if (without_blanks(entry).empty())
                continue;
            std::string id;
            std::string instance;
            const std::size_t bracket = entry.find('[');
            const std::size_t comma = entry.find(',');
            if (bracket != std::string_view::npos && bracket < comma) {
                const std::size_t end = entry.find(']', bracket);
                if (end == std::string_view::npos)
                    return in_quotes(entry) + " has an instance without an end (expected ])";
                id = entry.substr(0, bracket);
                instance = entry.substr(bracket + 1, end - bracket - 1);
                entry.remove_prefix(end + 1);
            }
            const std::vector<std::string_view> parts = split_text(entry, ',');
            if (parts.size() < 4)
                return in_quotes(entry) + " has " + std::to_string(parts.size()) +
                       " parts (expected id,type,memory,cores)";
            const auto memory = whole_number(parts[2], 0, most);
            const auto cores = whole_number(parts[3], 0, most);
            if (!memory || !cores)
                return in_quotes(entry) +
                       " has memory or cores that are not whole numbers from 0 to 2147483647";
            if (id.empty())
                id = parts[0];
            if (id.empty())
                return in_quotes(entry) + " has no id (expected id,type,memory,cores)";
            to.push_back({std::move(id),
                          memory_amount{*memory},
                          *cores,
                          container,
                          {},
                          std::move(instance)});
        }
    return {};
}

/// Returns the list of one container: `id,type,memory,cores:` for each device. `names_instances`:
/// an instance is `id[name]`, with the memory that the container requests; else it is a share of
/// its device, with the memory of the instance. O(shares).
[[nodiscard]] inline std::string share_list_text(const std::vector<chosen_share>& shares,
                                                 std::size_t container, std::string_view type,
                                                 bool names_instances) {
    std::string text;
    for (const chosen_share& share : shares) {
        if (share.container != container)
            continue;
        const bool named = names_instances && share.instance;
        text += share.device + (named ? "[" + share.instance->name + "]" : "") + "," +
                std::string(type) + "," +
                std::to_string(named ? share.asked_memory : share.memory) + "," +
                std::to_string(share.cores) + ":";
    }
    return text;
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
