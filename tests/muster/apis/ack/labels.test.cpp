// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/ack/labels.hpp>

#include <optional>
#include <string>

#include <doctest/doctest.h>

namespace codec_ack_labels_test {

using namespace muster::codec;

namespace {

std::optional<ack_labels> read(std::optional<std::string> name,
                               std::optional<std::string> minimum) {
    pod_object pod;
    if (name)
        pod.metadata.labels.set(std::string(ack_name_label), *name);
    if (minimum)
        pod.metadata.labels.set(std::string(ack_minimum_label), *minimum);
    return read_ack_labels(pod);
}

} // namespace

TEST_CASE("a pod with neither ACK label is in no ACK gang") {
    CHECK_FALSE(read({}, {}));
}

TEST_CASE("name and min-available make a gang") {
    const auto both = read("tf-smoke-gpu", "3");
    REQUIRE(both);
    CHECK(both->error.empty());
    CHECK(both->name == "tf-smoke-gpu");
    CHECK(both->min_available == 3);
    CHECK(read("a", "1")->min_available == 1);
    CHECK(read("a", "2147483647")->min_available == 2147483647);
}

TEST_CASE("one label without the other is an error, never a pod of its own") {
    CHECK(read("a", {})->error ==
          "label pod-group.scheduling.sigs.k8s.io/name is there, but label "
          "pod-group.scheduling.sigs.k8s.io/min-available is not (expected both)");
    CHECK(read({}, "2")->error ==
          "label pod-group.scheduling.sigs.k8s.io/min-available is there, but label "
          "pod-group.scheduling.sigs.k8s.io/name is not (expected both)");
}

TEST_CASE("min-available is a whole number from 1 to 2147483647") {
    for (const char* wrong : {"", "0", "-1", "2147483648", "99999999999999999999", "1.0", "3 ",
                              " 3", "+3", "3a", "0x3", "three"}) {
        CAPTURE(wrong);
        CHECK(read("a", wrong)->error ==
              "label pod-group.scheduling.sigs.k8s.io/min-available: " + in_quotes(wrong) +
                  " is not a minimum (expected a whole number from 1 to 2147483647)");
    }
}

TEST_CASE("the name is a DNS subdomain") {
    for (const char* right : {"a", "0", "a-b", "a--b", "a.b", "1.2.3", "a-b.c-d"}) {
        CAPTURE(right);
        CHECK(is_subdomain(right));
    }
    for (const char* wrong : {"", "-a", "a-", ".a", "a.", "a..b", "a-.b", "a.-b", "A", "a_b", "a b",
                              "a/b", "\xC3\xA4"}) {
        CAPTURE(wrong);
        CHECK_FALSE(is_subdomain(wrong));
    }
    CHECK(is_subdomain(std::string(253, 'a')));
    CHECK_FALSE(is_subdomain(std::string(254, 'a')));
    CHECK(read("My_Job", "2")->error == "label pod-group.scheduling.sigs.k8s.io/name: \"My_Job\" "
                                        "is not a name (expected a DNS subdomain)");
}

} // namespace codec_ack_labels_test
