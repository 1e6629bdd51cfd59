// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Returns the number of edits that turn `word` into `other`: insertions, deletions, replacements
/// and swaps of neighbours. O(word × other).
[[nodiscard]] inline std::size_t typing_distance(std::string_view word, std::string_view other) {
    const std::size_t width = other.size() + 1;
    std::vector<std::size_t> cost((word.size() + 1) * width);
    for (std::size_t row = 0; row <= word.size(); ++row)
        for (std::size_t column = 0; column < width; ++column) {
            std::size_t& here = cost[row * width + column];
            if (row == 0 || column == 0) {
                here = row + column;
                continue;
            }
            const std::size_t above = (row - 1) * width + column;
            const bool same = word[row - 1] == other[column - 1];
            here = std::min({cost[above] + 1, cost[row * width + column - 1] + 1,
                             cost[above - 1] + (same ? 0U : 1U)});
            if (row > 1 && column > 1 && word[row - 1] == other[column - 2] &&
                word[row - 2] == other[column - 1])
                here = std::min(here, cost[above - width - 2] + 1);
        }
    return cost.back();
}

/// Returns the known word that is nearest to `word`, if at most a third of its letters differ; the
/// first one if several tie. Empty if no word is near.
[[nodiscard]] inline std::string nearest_word(std::string_view word,
                                              const std::vector<std::string>& known) {
    std::string best;
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& each : known) {
        // The difference in length is a lower bound of the distance.
        const std::size_t longer = std::max(word.size(), each.size());
        if (longer - std::min(word.size(), each.size()) >= least)
            continue;
        if (const std::size_t distance = typing_distance(word, each); distance < least) {
            least = distance;
            best = each;
        }
    }
    return best;
}

/// Returns ` (did you mean WORD?)`, or an empty text if no word is near.
[[nodiscard]] inline std::string suggestion(std::string_view word,
                                            const std::vector<std::string>& known) {
    const std::string found = nearest_word(word, known);
    return found.empty() ? found : " (did you mean " + found + "?)";
}

} // namespace codec
} // namespace v0_1
} // namespace muster
