// SPDX-License-Identifier: Apache-2.0
#include "draw.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/timestamp.hpp>
#include <muster/words/amount_text.hpp>

#include "output.hpp"
#include "svg.hpp"

namespace cli {

using muster::words::amount_text;
namespace {

constexpr std::string_view free_colour = "#eceff1";
constexpr std::string_view cordoned_colour = "#d7ccc8";
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

/// An entry of the legend: a sample of the drawing style, and its meaning.
struct legend_entry {
    std::string colour;
    std::string name;
    std::string_view stroke{};
    bool dashed = false;

    [[nodiscard]] std::int64_t length() const {
        return static_cast<std::int64_t>(name.size()) * 7 + 30;
    }
};

/// Draws the entries from left to right in lines of the given width (pixels). `y` is the base line
/// of the first line. Returns the base line after the last one.
std::int64_t draw_legend(svg& on, std::int64_t y, std::int64_t width,
                         const std::vector<legend_entry>& entries) {
    std::int64_t x = 10;
    for (const legend_entry& each : entries) {
        if (x > 10 && x + each.length() > width) {
            x = 10;
            y += 18;
        }
        on.rect(x, y - 10, 12, 12, each.colour, {}, each.stroke, each.dashed);
        on.text(x + 16, y, each.name);
        x += each.length();
    }
    return y + 18;
}

std::int64_t legend_lines(std::int64_t width, const std::vector<legend_entry>& entries) {
    std::int64_t x = 10;
    std::int64_t lines = 1;
    for (const legend_entry& each : entries) {
        if (x > 10 && x + each.length() > width) {
            x = 10;
            ++lines;
        }
        x += each.length();
    }
    return lines;
}

/// Draws the nodes in columns, with a row per resource, and the waiting groups below.
class node_drawing {
public:
    explicit node_drawing(const report& made) : made_(&made) {
        for (const node_line& node : made.node_lines)
            rows_ += rows_of(node);
        columns_ = std::clamp<std::int64_t>((rows_ + most_rows - 1) / most_rows, 1, 8);
        arrange();
        number_groups();
        for (const group_line& group : made.groups)
            if (!group.is_settled())
                waiting_.push_back(&group);
    }

    [[nodiscard]] std::string draw() const {
        const std::int64_t width = std::max<std::int64_t>(900, columns_ * column_width());
        const std::vector<legend_entry> legend = make_legend();
        const std::int64_t top = 56 + 18 * legend_lines(width, legend);
        // Lines for the heading, the groups, and the number of further groups.
        const auto lines = static_cast<std::int64_t>(std::min(waiting_.size(), most_waiting + 1));
        const std::int64_t bottom = top + height_ + 24;
        const std::string title =
            "Nodes once the plan of " + muster::time_text(made_->now) + " is carried out";
        svg on(width, bottom + 18 * lines + 10, title);
        on.heading(10, 20, title);
        on.text(10, 38,
                "A row per node and resource that pods request; the bar is what the node has, with "
                "a cell for each device.");
        draw_legend(on, 60, width, legend);
        for (const spot& each : spots_)
            draw_node(on, made_->node_lines[each.node], each.column * column_width() + 10,
                      top + each.y);
        draw_waiting(on, bottom, width);
        return std::move(on).finish();
    }

private:
    static constexpr std::int64_t row = 16;
    /// Space between two nodes, in pixels.
    static constexpr std::int64_t gap = 4;
    static constexpr std::int64_t most_rows = 40;
    static constexpr std::size_t most_named = 40;
    static constexpr std::size_t most_waiting = 40;
    /// Minimum width of a cell, in pixels.
    static constexpr std::int64_t least_cell = 3;

    struct spot {
        std::size_t node = 0;
        std::int64_t column = 0;
        std::int64_t y = 0;
    };

    [[nodiscard]] static std::int64_t rows_of(const node_line& node) {
        return std::max<std::int64_t>(1, static_cast<std::int64_t>(node.uses.size()));
    }
    [[nodiscard]] bool wide() const { return columns_ == 1; }
    [[nodiscard]] std::int64_t name_width() const { return wide() ? 170 : 110; }
    [[nodiscard]] std::int64_t kind_width() const { return wide() ? 130 : 100; }
    [[nodiscard]] std::int64_t bar() const { return wide() ? 480 : 160; }
    [[nodiscard]] std::int64_t column_width() const {
        return name_width() + kind_width() + bar() + 110;
    }

    void arrange() {
        const std::int64_t most = (rows_ + columns_ - 1) / columns_;
        std::int64_t column = 0;
        std::int64_t rows = 0;
        std::int64_t y = 0;
        for (std::size_t node = 0; node < made_->node_lines.size(); ++node) {
            if (rows >= most) {
                ++column;
                rows = y = 0;
            }
            spots_.push_back({node, column, y});
            rows += rows_of(made_->node_lines[node]);
            y += rows_of(made_->node_lines[node]) * row + gap;
            height_ = std::max(height_, y);
        }
    }
    void number_groups() {
        for (const node_line& node : made_->node_lines)
            for (const node_use& use : node.uses)
                for (const node_pod& pod : use.pods) {
                    groups_.emplace(std::pair(pod.name_space, pod.group), 0);
                    starts_ = starts_ || pod.placed_now;
                    comes_later_ = comes_later_ || pod.nominated;
                }
        std::size_t next = 0;
        for (auto& [key, number] : groups_)
            number = next++;
    }

    [[nodiscard]] std::vector<legend_entry> make_legend() const {
        std::vector<legend_entry> legend;
        for (const auto& [key, number] : groups_)
            if (number < most_named)
                legend.push_back({std::string(colour_of(number)), shortened(key.second, 30)});
        if (groups_.size() > most_named)
            legend.push_back({"#ffffff", "and " + std::to_string(groups_.size() - most_named) +
                                             " more groups, in the same colours"});
        legend.push_back({std::string(free_colour), "free"});
        if (std::ranges::any_of(made_->node_lines, &node_line::unschedulable))
            legend.push_back({std::string(cordoned_colour), "free, but the node is cordoned"});
        if (starts_)
            legend.push_back({"#ffffff", "starts now", outline});
        if (comes_later_)
            legend.push_back({"#ffffff", "starts once others have left", outline, true});
        return legend;
    }

    void draw_node(svg& on, const node_line& node, std::int64_t x, std::int64_t y) const {
        std::string tip = node.name;
        if (node.unschedulable)
            tip += ", cordoned";
        if (node.leaving > 0)
            tip += ", " + std::to_string(node.leaving) +
                   (node.leaving == 1 ? " pod leaves" : " pods leave");
        on.text(x, y + 11, shortened(node.name, wide() ? 27 : 17), false, tip);
        for (const node_use& use : node.uses) {
            draw_use(on, node, use, x + name_width(), y);
            y += row;
        }
    }

    void draw_use(svg& on, const node_line& node, const node_use& use, std::int64_t x,
                  std::int64_t y) const {
        const std::string amounts =
            amount_text(use.kind, use.requested) + " of " + amount_text(use.kind, use.allocatable);
        std::string tip = node.name + ": " + amounts + " " + use.kind;
        if (use.others > 0)
            tip += ", and " + std::to_string(use.others) +
                   (use.others == 1 ? " pod that requests" : " pods that request") + " none of it";
        on.text(x + kind_width() - 8, y + 11, shortened(use.kind, wide() ? 19 : 15), true,
                use.kind);
        x += kind_width();
        on.rect(x, y, bar(), row - 3, node.unschedulable ? cordoned_colour : free_colour, tip);
        std::int64_t sum = 0;
        for (const node_pod& pod : use.pods) {
            const std::int64_t from = scaled(sum, use.allocatable, bar());
            sum = muster::saturate(static_cast<muster::int128>(sum) + pod.amount);
            const std::int64_t to = scaled(sum, use.allocatable, bar());
            on.rect(x + from, y, std::max<std::int64_t>(1, to - from), row - 3,
                    colour_of(groups_.at({pod.name_space, pod.group})),
                    pod.name_space + "/" + pod.name + " of " + pod.group + ": " +
                        amount_text(use.kind, pod.amount) + " " + use.kind +
                        (pod.placed_now  ? ", starts now"
                         : pod.nominated ? ", starts once others have left"
                                         : ""),
                    pod.placed_now || pod.nominated ? outline : "#ffffff", pod.nominated);
        }
        const bool device = use.kind.find('/') != use.kind.npos;
        if (device && use.allocatable > 1 && use.allocatable <= bar() / least_cell)
            for (std::int64_t cell = 1; cell < use.allocatable; ++cell)
                on.rect(x + scaled(cell, use.allocatable, bar()), y, 1, row - 3, "#ffffff");
        on.text(x + bar() + 8, y + 11, amounts);
    }

    void draw_waiting(svg& on, std::int64_t y, std::int64_t width) const {
        if (waiting_.empty())
            return on.text(10, y, "No group waits.");
        on.heading(10, y,
                   std::to_string(waiting_.size()) +
                       (waiting_.size() == 1 ? " group waits" : " groups wait"));
        // The number of letters that fit beside the name and the code.
        const auto most = static_cast<std::size_t>((width - 420) / 6);
        for (std::size_t at = 0; at < waiting_.size(); ++at) {
            y += 18;
            if (at == most_waiting)
                return on.text(10, y,
                               "and " + std::to_string(waiting_.size() - at) + " more groups");
            const group_line& group = *waiting_[at];
            const std::string name = group.name_space + "/" + group.name;
            on.text(10, y, shortened(name, 34), false,
                    name + (group.queue ? " in queue " + *group.queue : ""));
            on.text(230, y, capitalised(group.answer));
            if (group.reasons.empty())
                continue;
            const reason_line& first = group.reasons.front();
            on.text(290, y, first.code);
            on.text(430, y, shortened(first.message, most), false, first.message);
        }
    }

    const report* made_;
    std::int64_t rows_ = 0;
    std::int64_t columns_ = 1;
    /// Height of the longest column, in pixels.
    std::int64_t height_ = 0;
    std::vector<spot> spots_;
    /// Positions of groups, by namespace and name.
    std::map<std::pair<std::string, std::string>, std::size_t> groups_;
    bool starts_ = false;
    bool comes_later_ = false;
    std::vector<const group_line*> waiting_;
};

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
    return node_drawing(made).draw();
}

} // namespace cli
