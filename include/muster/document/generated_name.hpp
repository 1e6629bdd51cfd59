// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <muster/document/document_hash.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// A name as the API server generates it: the stem, cut to 58 characters, and five letters, which
/// here follow from the namespace, the whole stem and the index.
[[nodiscard]] inline std::string generated_name(std::string_view name_space, std::string stem,
                                                std::int64_t index) {
    const std::string letters =
        document_hash{}.add(name_space).add(stem).add(std::to_string(index)).letters(5);
    constexpr std::size_t longest = 58;
    if (stem.size() > longest)
        stem.resize(longest);
    return stem + letters;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
