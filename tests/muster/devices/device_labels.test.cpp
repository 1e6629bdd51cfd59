// SPDX-License-Identifier: Apache-2.0
#include <muster/devices/device_labels.hpp>

#include <doctest/doctest.h>

namespace device_labels_test {

using muster::device_label_check;
using op = muster::device_label_operator;

TEST_CASE("each operator accepts a label by its value or its absence") {
    const muster::device_labels labels{{"a", "1"}};
    CHECK(device_label_check{"a", op::in, {"0", "1"}}.accepts(labels));
    CHECK_FALSE(device_label_check{"a", op::in, {"0"}}.accepts(labels));
    CHECK_FALSE(device_label_check{"b", op::in, {"1"}}.accepts(labels));
    CHECK_FALSE(device_label_check{"a", op::not_in, {"0", "1"}}.accepts(labels));
    CHECK(device_label_check{"a", op::not_in, {"0"}}.accepts(labels));
    CHECK(device_label_check{"b", op::not_in, {"1"}}.accepts(labels));
    CHECK(device_label_check{"a", op::exists}.accepts(labels));
    CHECK_FALSE(device_label_check{"b", op::exists}.accepts(labels));
    CHECK(device_label_check{"b", op::does_not_exist}.accepts(labels));
    CHECK_FALSE(device_label_check{"a", op::does_not_exist}.accepts(labels));
}

TEST_CASE("labels are accepted if all checks accept them, and without checks") {
    const muster::device_labels labels{{"a", "1"}};
    CHECK(muster::accepts_labels({}, labels));
    CHECK(muster::accepts_labels({{"a", op::exists}, {"a", op::in, {"1"}}}, labels));
    CHECK_FALSE(muster::accepts_labels({{"a", op::exists}, {"b", op::exists}}, labels));
}

} // namespace device_labels_test
