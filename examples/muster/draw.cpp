// SPDX-License-Identifier: Apache-2.0
#include "draw.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <muster/base/timestamp.hpp>

#include "reason_text.hpp"
#include "svg.hpp"

namespace cli {
namespace {

constexpr std::string_view free_colour = "#eceff1";
constexpr std::string_view used_colour = "#4c78a8";
constexpr std::string_view over_colour = "#d62728";
constexpr std::string_view deserved_colour = "#f58518";
constexpr std::string_view guarantee_colour = "#54a24b";
constexpr std::string_view outline = "#212121";

/// Neighbours in the order of groups get colours far from each other.
std::string_view colour_of(std::size_t group) {
    constexpr std::array<std::string_view, 20> colours{
        "#4c78a8", "#f58518", "#54a24b", "#e45756", "#b279a2", "#72b7b2", "#eeca3b",
        "#9d755d", "#ff9da6", "#7f7f7f", "#1f4e79", "#b35806", "#1b7837", "#a50f15",
        "#6a3d9a", "#17867f", "#9e9d24", "#5d4037", "#d81b60", "#90caf9"};
    return colours[group % colours.size()];
}

/// `part` of `whole`, on a bar of `length`.
std::int64_t scaled(std::int64_t part, std::int64_t whole, std::int64_t length) {
    if (whole <= 0)
        return 0;
    const auto pixels = static_cast<muster::int128>(part) * length / whole;
    return static_cast<std::int64_t>(std::clamp<muster::int128>(pixels, 0, length));
}

std::string shortened(const std::string& text, std::size_t most) {
    return text.size() <= most ? text : text.substr(0, most - 2) + "..";
}

/// What a legend says, one after the other from left to right, in lines of the width.
std::int64_t draw_legend(svg& on, std::int64_t y, std::int64_t width,
                         const std::vector<std::pair<std::string, std::string>>& entries) {
    std::int64_t x = 10;
    for (const auto& [colour, name] : entries) {
        const auto length = static_cast<std::int64_t>(name.size()) * 7 + 30;
        if (x > 10 && x + length > width) {
            x = 10;
            y += 18;
        }
        on.rect(x, y - 10, 12, 12, colour);
        on.text(x + 16, y, name);
        x += length;
    }
    return y + 18;
}

/// So many lines does the legend take.
std::int64_t legend_lines(std::int64_t width,
                          const std::vector<std::pair<std::string, std::string>>& entries) {
    std::int64_t x = 10;
    std::int64_t lines = 1;
    for (const auto& [colour, name] : entries) {
        const auto length = static_cast<std::int64_t>(name.size()) * 7 + 30;
        if (x > 10 && x + length > width) {
            x = 10;
            ++lines;
        }
        x += length;
    }
    return lines;
}

} // namespace

std::string draw_queues(const report& made) {
    constexpr std::int64_t width = 900;
    constexpr std::int64_t bar_at = 330;
    constexpr std::int64_t bar = 400;
    constexpr std::int64_t row = 20;
    std::int64_t rows = 0;
    for (const queue_line& queue : made.queues)
        rows += 1 + static_cast<std::int64_t>(queue.resources.size());
    svg on(width, 50 + rows * row + 10, "Queues at " + muster::time_text(made.now));
    draw_legend(on, 20, width,
                {{std::string(used_colour), "used"},
                 {std::string(over_colour), "used beyond the quota"},
                 {std::string(free_colour), "quota"},
                 {std::string(deserved_colour), "deserved"},
                 {std::string(guarantee_colour), "guaranteed"}});
    std::int64_t y = 50;
    for (const queue_line& queue : made.queues) {
        const auto indent = static_cast<std::int64_t>(queue.depth) * 14;
        const std::string name = queue.name.empty() ? "(no queue)" : queue.name;
        on.text(10 + indent, y + 14, shortened(name, 28), false,
                name + (queue.state.empty()
                            ? ""
                            : ", " + queue.state + ", priority " + std::to_string(queue.priority)));
        on.text(bar_at, y + 14,
                std::to_string(queue.running_groups) + " groups run, " +
                    std::to_string(queue.waiting_groups) + " wait (" +
                    std::to_string(queue.waiting_pods) + " pods)");
        y += row;
        for (const auto& [kind, one] : queue.resources) {
            const auto all = made.resources.find(kind);
            const std::int64_t top = one.quota                     ? *one.quota
                                     : all == made.resources.end() ? 0
                                                                   : all->second.allocatable;
            const std::int64_t most =
                std::max({top, one.used, one.deserved.value_or(0), one.guarantee});
            const std::string used = amount_text(kind, one.used);
            std::string tip = name + ", " + kind + ": " + used + " used";
            if (one.quota)
                tip += ", quota " + amount_text(kind, *one.quota);
            if (one.deserved)
                tip += ", deserved " + amount_text(kind, *one.deserved);
            if (one.guarantee > 0)
                tip += ", guaranteed " + amount_text(kind, one.guarantee);
            on.text(bar_at - 8, y + 13, shortened(kind, 30), true, kind);
            on.rect(bar_at, y + 2, std::max<std::int64_t>(1, scaled(top, most, bar)), row - 6,
                    free_colour, tip);
            const bool over = one.quota && one.used > *one.quota;
            on.rect(bar_at, y + 4, scaled(one.used, most, bar), row - 10,
                    over ? over_colour : used_colour, tip);
            if (one.deserved)
                on.rect(bar_at + scaled(*one.deserved, most, bar) - 1, y, 3, row - 2,
                        deserved_colour, tip);
            if (one.guarantee > 0)
                on.rect(bar_at + scaled(one.guarantee, most, bar) - 1, y, 3, row - 2,
                        guarantee_colour, tip);
            on.text(bar_at + bar + 10, y + 13,
                    used + (one.quota ? " of " + amount_text(kind, *one.quota) : " (no quota)"));
            y += row;
        }
    }
    return std::move(on).finish();
}

std::string draw_nodes(const report& made) {
    const auto count = static_cast<std::int64_t>(made.node_lines.size());
    constexpr std::int64_t row = 16;
    const std::int64_t columns = std::clamp<std::int64_t>((count + 39) / 40, 1, 8);
    const std::int64_t rows = std::max<std::int64_t>(1, (count + columns - 1) / columns);
    const std::int64_t name_width = columns == 1 ? 190 : 120;
    const std::int64_t bar = columns == 1 ? 680 : 170;
    const std::int64_t column_width = name_width + bar + 30;
    const std::int64_t width = columns * column_width;

    bool comes_later = false;
    std::map<std::pair<std::string, std::string>, std::size_t> groups;
    for (const node_line& node : made.node_lines)
        for (const node_pod& pod : node.pods) {
            groups.emplace(std::pair(pod.name_space, pod.group), 0);
            comes_later = comes_later || pod.nominated;
        }
    std::vector<std::pair<std::string, std::string>> legend;
    constexpr std::size_t most_named = 40;
    std::size_t next = 0;
    for (auto& [key, number] : groups) {
        number = next++;
        if (number < most_named)
            legend.emplace_back(std::string(colour_of(number)), shortened(key.second, 30));
    }
    if (groups.size() > most_named)
        legend.emplace_back(std::string(free_colour),
                            "and " + std::to_string(groups.size() - most_named) + " more groups");
    legend.emplace_back(std::string(free_colour), "free");

    const std::int64_t top = 30 + 18 * legend_lines(width, legend);
    svg on(width, top + rows * row + 10,
           "What stands where once the plan of " + muster::time_text(made.now) +
               " is carried out; outlined pods start now" +
               (comes_later ? ", dashed ones once others have left" : ""));
    draw_legend(on, 20, width, legend);
    for (std::int64_t at = 0; at < count; ++at) {
        const node_line& node = made.node_lines[static_cast<std::size_t>(at)];
        const std::int64_t x = at / rows * column_width + 10;
        const std::int64_t y = top + at % rows * row;
        std::string tip = node.name;
        if (!node.kind.empty())
            tip += ": " + amount_text(node.kind, node.requested) + " of " +
                   amount_text(node.kind, node.allocatable) + " " + node.kind;
        if (node.unschedulable)
            tip += ", cordoned";
        if (node.others > 0)
            tip += ", and " + std::to_string(node.others) +
                   (node.others == 1 ? " pod that asks" : " pods that ask") + " for none of it";
        if (node.leaving > 0)
            tip += ", and " + std::to_string(node.leaving) +
                   (node.leaving == 1 ? " pod that leaves" : " pods that leave");
        on.text(x + name_width - 16, y + 11,
                shortened(node.name, columns == 1 ? 26 : 16) + (node.unschedulable ? " *" : ""),
                true, tip);
        on.rect(x + name_width - 10, y, bar, row - 3, free_colour, tip);
        std::int64_t sum = 0;
        for (const node_pod& pod : node.pods) {
            const std::int64_t from = scaled(sum, node.allocatable, bar);
            sum = muster::saturate(static_cast<muster::int128>(sum) + pod.amount);
            const std::int64_t to = scaled(sum, node.allocatable, bar);
            on.rect(x + name_width - 10 + from, y, std::max<std::int64_t>(1, to - from), row - 3,
                    colour_of(groups.at({pod.name_space, pod.group})),
                    pod.name_space + "/" + pod.name + " of " + pod.group + ": " +
                        amount_text(node.kind, pod.amount) + " " + node.kind +
                        (pod.placed_now  ? ", starts now"
                         : pod.nominated ? ", starts when others have left"
                                         : ""),
                    pod.placed_now || pod.nominated ? outline : "#ffffff", pod.nominated);
        }
    }
    return std::move(on).finish();
}

} // namespace cli
