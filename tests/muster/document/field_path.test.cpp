// SPDX-License-Identifier: Apache-2.0
#include <muster/document/field_path.hpp>

#include <cstddef>

#include <doctest/doctest.h>

namespace codec_field_path_test {

using namespace muster::codec;

TEST_CASE("a path is written as Kubernetes writes field paths") {
    const path_step steps[] = {"spec", "containers", std::size_t{0}, "requests", "nvidia.com/gpu"};
    CHECK(to_text(path_view(steps)) == "spec.containers[0].requests[nvidia.com/gpu]");
    CHECK(to_text(path_view{}).empty());
    const path_step odd[] = {"", "a\nb"};
    CHECK(to_text(path_view(odd)) == "[][a?b]");
}

TEST_CASE("a chain of frames gives its steps from the root on") {
    const path_frame root;
    const path_frame items{&root, "items"};
    const path_frame third{&items, std::size_t{2}};
    CHECK(to_text(third) == "items[2]");
    CHECK(steps_of(root).empty());
}

} // namespace codec_field_path_test
