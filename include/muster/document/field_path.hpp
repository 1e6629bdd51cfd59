// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// One step from a value into it: a key of an object or an index of a list. A key is borrowed, not
/// owned.
struct path_step {
    std::string_view key;
    std::size_t index = 0;
    bool is_index = false;

    path_step(std::string_view name) : key(name) {}
    path_step(const char* name) : key(name) {}
    path_step(std::size_t position) : index(position), is_index(true) {}
};

using path_view = std::span<const path_step>;

/// A path as a chain of steps on the stack, so that descending costs no allocation. The root frame
/// has no parent and its step means nothing.
struct path_frame {
    const path_frame* parent = nullptr;
    path_step step = std::size_t{0};
};

/// The steps from the root to a frame.
[[nodiscard]] inline std::vector<path_step> steps_of(const path_frame& last) {
    std::vector<path_step> steps;
    for (const path_frame* frame = &last; frame->parent != nullptr; frame = frame->parent)
        steps.push_back(frame->step);
    std::reverse(steps.begin(), steps.end());
    return steps;
}

/// As Kubernetes writes field paths: spec.containers[0].resources.requests[nvidia.com/gpu]. Keys
/// are shortened to 128 bytes and their control characters replaced.
[[nodiscard]] inline std::string to_text(path_view steps) {
    constexpr std::size_t longest_key = 128;
    std::string out;
    for (const path_step& step : steps) {
        if (step.is_index) {
            out += '[' + std::to_string(step.index) + ']';
            continue;
        }
        const bool plain =
            !step.key.empty() && std::all_of(step.key.begin(), step.key.end(), [](char c) {
                return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
            });
        if (plain && !out.empty())
            out += '.';
        if (!plain)
            out += '[';
        for (const char c : step.key.substr(0, longest_key))
            out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
        if (!plain)
            out += ']';
    }
    return out;
}

[[nodiscard]] inline std::string to_text(const path_frame& last) {
    const std::vector<path_step> steps = steps_of(last);
    return to_text(path_view(steps));
}

} // namespace codec
} // namespace v0_1
} // namespace muster
