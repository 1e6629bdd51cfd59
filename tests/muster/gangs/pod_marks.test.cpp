// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <muster/gangs/pod_marks.hpp>

namespace translate_pod_marks_test {
namespace {

using namespace muster::translate;

gang_pod pod_of(const char* text) {
    return {muster::vertex_index{0}, boost::json::parse(text).as_object()};
}

TEST_CASE("marks that are taken off a pod can be put back") {
    const char* const text = R"({"metadata":{"name":"p","labels":{"a":"1","g":"x"},
        "annotations":{"n":"y"}},"spec":{"schedulerName":"s","containers":[]}})";
    gang_pod pod = pod_of(text);
    const mark_remover remove(pod);
    remove.label("g");
    remove.annotation("n");
    remove.field("schedulerName");
    remove.label("absent");
    CHECK(boost::json::serialize(pod.document) ==
          R"({"metadata":{"name":"p","labels":{"a":"1"}},"spec":{"containers":[]}})");
    CHECK(with_marks(pod) == pod_of(text).document);
}

TEST_CASE("of the scheduling gates only the API's own is taken off") {
    const char* const text =
        R"({"spec":{"schedulingGates":[{"name":"a"},{"name":"grove.io/podgang"}]}})";
    gang_pod pod = pod_of(text);
    mark_remover(pod).gate("grove.io/podgang");
    CHECK(boost::json::serialize(pod.document) == R"({"spec":{"schedulingGates":[{"name":"a"}]}})");
    CHECK(with_marks(pod) == pod_of(text).document);
    mark_remover(pod).gate("a");
    CHECK(boost::json::serialize(pod.document) == R"({"spec":{}})");
    CHECK(with_marks(pod) == pod_of(text).document);
}

TEST_CASE("an entry of metadata that is no string is no entry") {
    const auto pod = pod_of(R"({"metadata":{"labels":{"a":1,"b":"2"}}})").document;
    CHECK(metadata_entry(pod, "labels", "a").data() == nullptr);
    CHECK(metadata_entry(pod, "labels", "b") == "2");
    CHECK(metadata_entry(pod, "annotations", "b").data() == nullptr);
}

} // namespace
} // namespace translate_pod_marks_test
