// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <iterator>
#include <set>
#include <string_view>

#include <muster/words/gate_text.hpp>

namespace words_gate_text_test {

using namespace muster;

TEST_CASE("every gate has a text of its own, a clause about the gang") {
    std::set<std::string_view> texts;
    for (std::size_t at = 0; at < std::size(gate_names); ++at) {
        const std::string_view text = words::gate_text(static_cast<gate>(at));
        CHECK_FALSE(text.empty());
        CHECK_FALSE(text.ends_with('.'));
        texts.insert(text);
    }
    CHECK(texts.size() == std::size(gate_names));
    CHECK(words::gate_text(gate::quota) == "its queue's quota stops it");
}

} // namespace words_gate_text_test
