// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <boost/uuid/detail/sha1.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// Returns the SHA-1 of the text as 40 lowercase hexadecimal digits. Controllers use it as a label
/// value for long names.
[[nodiscard]] inline std::string sha1_text(std::string_view text) {
    boost::uuids::detail::sha1 hash;
    hash.process_bytes(text.data(), text.size());
    // Words or bytes, depending on the version of Boost.
    boost::uuids::detail::sha1::digest_type digest;
    hash.get_digest(digest);
    std::string made;
    for (const auto part : digest)
        for (int shift = static_cast<int>(8 * sizeof part) - 4; shift >= 0; shift -= 4)
            made += "0123456789abcdef"[(part >> shift) & 15U];
    return made;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
