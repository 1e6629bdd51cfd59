// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/words/label_text.hpp>

namespace words_label_text_test {

using namespace muster;

TEST_CASE("taints and ports are written as kubectl and Kubernetes spell them") {
    CHECK(words::taint_text({"dedicated", "storage", taint_effect::no_schedule}) ==
          "dedicated=storage:NoSchedule");
    CHECK(words::taint_text({"maintenance", "", taint_effect::no_execute}) ==
          "maintenance:NoExecute");
    host_port port;
    port.port = 8080;
    port.protocol = "TCP";
    CHECK(words::port_text(port) == "8080/TCP");
    port.address = "127.0.0.1";
    CHECK(words::port_text(port) == "127.0.0.1:8080/TCP");
}

TEST_CASE("a requirement is written as a label selector of kubectl") {
    CHECK(words::requirement_text({"disk", label_operator::in, {"ssd"}}) == "disk=ssd");
    CHECK(words::requirement_text({"disk", label_operator::not_in, {"ssd"}}) == "disk!=ssd");
    CHECK(words::requirement_text({"zone", label_operator::in, {"a", "b"}}) == "zone in (a, b)");
    CHECK(words::requirement_text({"zone", label_operator::not_in, {"a", "b"}}) ==
          "zone notin (a, b)");
    CHECK(words::requirement_text({"gpu", label_operator::exists, {}}) == "gpu");
    CHECK(words::requirement_text({"gpu", label_operator::does_not_exist, {}}) == "!gpu");
    CHECK(words::requirement_text({"cores", label_operator::greater, {"8"}}) == "cores>8");
    CHECK(words::requirement_text({"cores", label_operator::less, {"8"}}) == "cores<8");
}

TEST_CASE("at most three values are listed, and foreign text is quoted") {
    CHECK(words::requirement_text({"zone", label_operator::in, {"a", "b", "c", "d", "e"}}) ==
          "zone in (a, b, c (+2 values))");
    CHECK(words::requirement_text({"a\nb", label_operator::in, {"c d"}}) == "\"a\\nb\"=\"c d\"");
}

TEST_CASE("a term joins its requirements on labels and on the name") {
    node_term term;
    CHECK(words::requirements_text(term) == "a term without requirements");
    term.labels.requirements = {{"disk", label_operator::in, {"ssd"}}};
    term.name = {{"metadata.name", label_operator::in, {"n1"}}};
    CHECK(words::requirements_text(term) == "disk=ssd, metadata.name=n1");
}

} // namespace words_label_text_test
