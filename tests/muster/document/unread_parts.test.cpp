// SPDX-License-Identifier: Apache-2.0
#include <muster/document/unread_parts.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/cluster_input.hpp>
#include <muster/input/membership.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_unread_parts_test {

using namespace muster::codec;

namespace {

/// True if no new pod may use the node because something of it could not be read.
bool is_closed(const node_object& node) {
    return std::ranges::any_of(node.taints, [](const muster::taint& one) {
        return one.key == muster::unread_taint_key &&
               one.effect == muster::taint_effect::no_schedule;
    });
}

std::string deep(std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
}

struct outcome {
    std::vector<document> documents;
    diagnostics found;
    manifests objects;

    explicit outcome(std::string text, on_unread unread = on_unread::isolate) {
        documents = read_documents("f", std::move(text), found, input_format::automatic, unread);
        if (found.ok())
            objects = read_cluster(documents, gang_options{}, found);
    }

    [[nodiscard]] std::string findings() const {
        std::string lines;
        for (const diagnostic& each : found.findings())
            lines += to_text(each) + '\n';
        return lines;
    }
    [[nodiscard]] const pod_object& pod(std::string_view name) const {
        return *std::ranges::find(objects.pods, name, [](const pod_object& each) {
            return std::string_view(each.metadata.key.name);
        });
    }
    /// The fault of a group: "none", "missing" or "malformed: WHY".
    [[nodiscard]] std::string fault(const std::string& name) const {
        std::vector<const group_map::value_type*> of_pods;
        diagnostics aside;
        for (const auto& [key, facts] :
             find_groups(objects, object_lookup(objects), of_pods, aside))
            if (key.name == name)
                return facts.fault == muster::gang_fault::none ? "none"
                       : facts.fault == muster::gang_fault::missing
                           ? "missing"
                           : "malformed: " + facts.fault_detail;
        return "no group";
    }
};

std::string node(const std::string& name, const std::string& more = {}) {
    return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name + R"("},"spec":{)" +
           more + R"(},"status":{"allocatable":{"cpu":"8","pods":"10"}}})";
}

std::string pod(const std::string& name, const std::string& group = {},
                const std::string& spec = {}) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
           R"(","namespace":"a","labels":{)" +
           (group.empty() ? "" : R"("scheduler.tensorstack.dev/group-name":")" + group + '"') +
           R"(}},"spec":{"containers":[{"name":"m","resources":{"requests":{"cpu":"1"}}}])" + spec +
           "}}";
}

std::string group(const std::string& name, const std::string& spec = {}) {
    return R"({"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"PodGroup","metadata":{)"
           R"("name":")" +
           name + R"(","namespace":"a"},"spec":{"minMember":1)" + spec + "}}";
}

std::string list(const std::vector<std::string>& items) {
    std::string text = R"({"apiVersion":"v1","kind":"List","items":[)";
    for (const std::string& each : items)
        text += (text.back() == '[' ? "\n" : ",\n") + each;
    return text + "\n]}\n";
}

} // namespace

TEST_CASE("an item of a list that is nested too deeply breaks no other item") {
    const outcome read(list(
        {node("n"), group("g", R"(,"extra":{"x":)" + deep(100) + "}"), pod("p", "g"), pod("q")}));
    CHECK(read.findings() ==
          "f:3:205: warning: items[1].spec.extra: nested too deeply (expected at most 64 levels), "
          "so PodGroup \"a/g\" is read without this field and counts as broken\n");
    CHECK(read.objects.nodes.size() == 1);
    CHECK(read.objects.pods.size() == 2);
    CHECK(read.fault("g") ==
          "malformed: spec.extra: nested too deeply (expected at most 64 levels)");
    CHECK(read.fault("q") == "none");
    // The items after it still have their places.
    CHECK(read.documents.at(0).locate(std::vector<path_step>{"items", 3U, "spec"}).line == 5);
}

TEST_CASE("too deep an item is an error unless it is isolated") {
    const outcome read(list({node("n"), group("g", R"(,"x":)" + deep(100)), pod("p")}),
                       on_unread::error);
    CHECK(!read.found.ok());
    CHECK(read.documents.empty());
}

TEST_CASE("YAML isolates an item of a list that is nested too deeply, block or flow style") {
    std::string block;
    for (std::size_t level = 0; level < 100; ++level)
        block += std::string(6 + level, ' ') + "x:\n";
    for (const std::string& value : {"      x: " + deep(100) + "\n", block}) {
        const outcome read("apiVersion: v1\nkind: List\nitems:\n"
                           "- apiVersion: v1\n  kind: Node\n  metadata: {name: m}\n"
                           "- apiVersion: scheduler.tensorstack.dev/v1beta1\n  kind: PodGroup\n"
                           "  metadata: {name: g, namespace: a}\n  spec:\n    minMember: 1\n"
                           "    extra:\n" +
                           value + "- " + pod("p", "g") + "\n");
        CHECK(read.findings().find(": warning: items[1].spec.extra: nested too deeply (expected at "
                                   "most 64 levels), so PodGroup \"a/g\" is read without this "
                                   "field and counts as broken\n") != std::string::npos);
        CHECK(read.found.ok());
        CHECK(read.found.warnings() == 1);
        CHECK(read.objects.nodes.size() == 1);
        REQUIRE(read.objects.pods.size() == 1);
        CHECK(read.fault("g").starts_with("malformed: spec.extra"));
        const std::size_t pod_line = value == block ? 113 : 14;
        CHECK(read.documents.at(0).locate(std::vector<path_step>{"items", 2U}).line == pod_line);
    }
}

TEST_CASE("a YAML value that has too many levels for the parser is an error at its place") {
    const std::string text = "apiVersion: v1\nkind: List\nitems:\n- " +
                             pod("bad", {}, R"(,"x":)" + deep(2'000)) + "\n- " + node("nn") + "\n";
    const std::string findings = outcome(text).findings();
    CHECK(findings.starts_with("f:4:228: items[0].spec.x[0]"));
    CHECK(findings.ends_with("nested too deeply (expected at most 64 levels)\n"));
}

TEST_CASE("an alias to a value that cannot be read cannot be read either") {
    const outcome read(
        "apiVersion: v1\nkind: List\nitems:\n"
        "- {apiVersion: v1, kind: Node, metadata: {name: m}, spec: {x: &a " +
        std::string(70, '[') + "&b []" + std::string(70, ']') +
        "}}\n- {apiVersion: v1, kind: Node, metadata: {name: o}, status: {x: *b}}\n");
    CHECK(read.found.warnings() == 2);
    REQUIRE(read.objects.nodes.size() == 2);
    CHECK(is_closed(read.objects.nodes[0]));
    CHECK(is_closed(read.objects.nodes[1]));
}

TEST_CASE("one of several documents that is nested too deeply breaks no other document") {
    const std::string bad = pod("bad", {}, R"(,"x":)" + deep(100));
    for (const std::string& text :
         {node("n") + "\n" + bad + "\n" + pod("p"), bad + pod("p") + node("n"),
          "---\n" + bad + "\n---\n" + node("n") + "\n---\n" + pod("p")}) {
        const outcome read(text);
        CHECK(read.found.ok());
        CHECK(read.found.warnings() == 1);
        CHECK(read.objects.nodes.size() == 1);
        REQUIRE(read.objects.pods.size() == 2);
        CHECK(read.pod("p").unsupported.empty());
        CHECK(read.pod("bad").unsupported ==
              std::vector<std::string>{"spec.x: nested too deeply (expected at most 64 "
                                       "levels)"});
    }
}

TEST_CASE("a document that is alone, or no object, or a list itself, is an error as before") {
    const std::string bad = pod("bad", {}, R"(,"x":)" + deep(100));
    for (const std::string& text :
         {bad, "# one\n---\n" + bad + "\n", deep(100), node("n") + deep(100),
          R"({"apiVersion":"v1","kind":"List","metadata":)" + deep(100) + R"(,"items":[]})",
          R"({"apiVersion":"v1","kind":"List","items":[)" + deep(100) + "]}"}) {
        CAPTURE(text);
        const outcome read(text);
        CHECK(!read.found.ok());
        CHECK(read.findings().find("nested too deeply (expected at most 64 levels)") !=
              std::string::npos);
    }
}

TEST_CASE("an item may nest as deeply as an object of its own") {
    const auto is_whole = [](const std::string& start, std::size_t levels) {
        const outcome read(start + list({pod("p", {}, R"(,"x":)" + deep(levels))}));
        return read.found.ok() && read.documents.at(0).unread().empty();
    };
    for (const std::string start : {"", "---\n"}) {
        CHECK(is_whole(start, 62));
        CHECK(!is_whole(start, 63));
    }
}

TEST_CASE("a duplicate key in an item breaks that item only") {
    const outcome read(list({pod("p", {}, R"(,"nodeName":"n","nodeName":"m")"), node("n")}));
    CHECK(read.findings() ==
          "f:2:173: warning: items[0].spec.nodeName: duplicate key (expected each key once), so "
          "Pod \"a/p\" is read without this field and counts as broken\n");
    CHECK(read.pod("p").node.empty());
    CHECK(read.objects.nodes.size() == 1);
    CHECK(!outcome(pod("p", {}, R"(,"nodeName":"n","nodeName":"m")") + node("n")).found.ok());
}

TEST_CASE("managed fields that are nested too deeply do not matter") {
    std::string managed = pod("p");
    managed.insert(managed.find(R"("labels")"), R"("managedFields":[)" + deep(80) + "],");
    const outcome read(list({managed, node("n")}));
    CHECK(read.findings().empty());
    CHECK(read.pod("p").unsupported.empty());
}

TEST_CASE("managed fields of NUMA zones that are nested too deeply close their node") {
    const outcome read(
        list({node("n"),
              R"({"apiVersion":"topology.node.k8s.io/v1alpha2","kind":"NodeResourceTopology",)"
              R"("metadata":{"name":"n","managedFields":[)" +
                  deep(80) + R"(]},"topologyPolicies":["Restricted"],"zones":[]})"}));
    REQUIRE(read.objects.node_topologies.size() == 1);
    REQUIRE(read.objects.node_topologies[0].zones);
    CHECK(read.objects.node_topologies[0].zones->closed);
}

TEST_CASE("a broken object restricts, whatever its kind") {
    const std::string bad = R"("x":)" + deep(100);
    const std::string meta = R"("metadata":{"name":"o","namespace":"a"},)";
    const outcome read(list(
        {node("n", bad), node("m"), node("k"),
         pod("hidden", {}, R"(,"nodeName":"m","overhead":{)" + bad + "}"),
         R"({"apiVersion":"scheduler.tensorstack.dev/v1beta1","kind":"Queue",)" + meta +
             R"("spec":{)" + bad + "}}",
         R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget",)" + meta +
             R"("spec":{"minAvailable":1,"selector":{)" + bad + "}}}",
         R"({"apiVersion":"v1","kind":"PersistentVolumeClaim",)" + meta + R"("spec":{)" + bad +
             "}}",
         R"({"apiVersion":"example.com/v1","kind":"Other",)" + meta + R"("spec":{)" + bad + "}}",
         R"({"apiVersion":"batch/v1","kind":"Job",)" + meta + R"("spec":{)" + bad + "}}"}));
    CHECK(read.found.ok());
    CHECK(read.found.warnings() == 7);
    REQUIRE(read.objects.nodes.size() == 3);
    CHECK(is_closed(read.objects.nodes[0]));
    CHECK(is_closed(read.objects.nodes[1]));
    CHECK(!is_closed(read.objects.nodes[2]));
    REQUIRE(read.objects.queues.size() == 1);
    CHECK(read.objects.queues[0].closed);
    REQUIRE(read.objects.budgets.size() == 1);
    CHECK(read.objects.budgets[0].pods);
    CHECK(!read.objects.budgets[0].min_available);
    REQUIRE(read.objects.storage.claims.size() == 1);
    CHECK(!read.objects.storage.claims[0].unread.empty());
    CHECK(read.objects.pods.size() == 1);
    CHECK(read.objects.skipped == std::map<std::string, std::size_t>{{"example.com/v1 Other", 1}});
}

TEST_CASE("a broken group of another API is malformed, not missing") {
    const auto volcano = [](const std::string& spec) {
        return R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",)"
               R"("metadata":{"name":"v","namespace":"a"},"spec":{"minMember":1)" +
               spec + "}}";
    };
    std::string member = pod("p");
    member.insert(member.find(R"("labels")"),
                  R"("annotations":{"scheduling.k8s.io/group-name":"v"},)");
    CHECK(outcome(list({volcano(""), member})).fault("v") == "none");
    CHECK(outcome(list({member, node("n")})).fault("v") == "missing");
    const outcome read(list({volcano(R"(,"x":)" + deep(100)), member}));
    CHECK(read.found.ok());
    CHECK(read.fault("v") == "malformed: spec.x: nested too deeply (expected at most 64 levels)");
}

TEST_CASE("items of typed and nested lists are isolated as well") {
    const std::string bad = pod("bad", {}, R"(,"x":)" + deep(100));
    const std::string typed =
        R"({"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"p"},"spec":{"x":)" +
        deep(100) + "}}]}";
    const outcome read(list({list({node("n"), bad}), typed}));
    CHECK(read.found.ok());
    CHECK(read.findings().find("items[0].items[1].spec.x: nested") != std::string::npos);
    CHECK(read.findings().find("items[1].items[0].spec.x: nested") != std::string::npos);
    CHECK(read.findings().find("so Pod \"p\" is read") != std::string::npos);
    CHECK(read.objects.nodes.size() == 1);
    CHECK(read.objects.pods.size() == 2);
}

TEST_CASE("a syntax error elsewhere in the list is still an error") {
    const outcome read(list({pod("bad", {}, R"(,"x":)" + deep(100)), R"({"a" 1})"}));
    CHECK(!read.found.ok());
}

TEST_CASE("of a value that many deep values make unreadable there is one fault with a path") {
    std::string many = "[]";
    for (std::size_t at = 0; at < 30'000; ++at)
        many += ",[]";
    const std::string spec = R"(,"x":)" + std::string(61, '[') + many + std::string(61, ']');
    for (const std::string start : {"", "---\n"}) {
        const outcome read(start + list({node("nn"), pod("bad", {}, spec)}));
        CHECK(read.found.ok());
        CHECK(read.documents.at(0).unread().empty());
        const outcome deeper(
            start + list({node("nn"), pod("bad", {}, R"(,"x":{"y":)" + spec.substr(5) + "}")}));
        CHECK(deeper.found.ok());
        CHECK(deeper.documents.at(0).unread().size() == 1);
        CHECK(deeper.pod("bad").unsupported.size() == 1);
    }
}

TEST_CASE("many deep values cost no more than their text") {
    std::string many = R"(,"extra":{)";
    for (std::size_t at = 0; at < 3'000; ++at)
        many += (at == 0 ? "\"k" : ",\"k") + std::to_string(at) + "\":" + deep(100);
    const outcome read(list({pod("bad", {}, many + "}"), node("n")}));
    CHECK(read.found.warnings() == 1);
    CHECK(read.pod("bad").unsupported.size() == 1);
    CHECK(read.documents.at(0).unread().size() == 1);
}

} // namespace codec_unread_parts_test
