// SPDX-License-Identifier: Apache-2.0
#include <muster/document/yaml_reader.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

namespace codec_yaml_reader_test {

using namespace muster::codec;

namespace {

std::vector<document> read(std::string text, diagnostics& out) {
    return read_yaml(std::make_shared<const source_text>("f.yaml", std::move(text)), out);
}

/// All findings, a line each, and behind them the documents as JSON, a line each.
std::string outcome(std::string text) {
    diagnostics out;
    const auto documents = read(std::move(text), out);
    std::string lines;
    for (const diagnostic& finding : out.findings())
        lines += to_text(finding) + '\n';
    for (const document& one : documents)
        lines += boost::json::serialize(one.root()) + '\n';
    return lines;
}

bool is_refused(std::string text) {
    diagnostics out;
    return read(std::move(text), out).empty() && out.errors() == 1;
}

} // namespace

TEST_CASE("the seeds' pods, separated by --, are two documents") {
    const std::string pod = R"(apiVersion: v1
kind: Pod
metadata:
  name: test1
  labels:
    scheduler.tensorstack.dev/group-name: dance
spec:
  schedulerName: t9k-scheduler
  containers:
  - image: nginx:latest
    name: test
    resources:
      requests:
        cpu: 1
        memory: 200Mi
)";
    const std::string json =
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"test1","labels":{"scheduler.tensorstack.dev/group-name":"dance"}},"spec":{"schedulerName":"t9k-scheduler","containers":[{"image":"nginx:latest","name":"test","resources":{"requests":{"cpu":1,"memory":"200Mi"}}}]}})"
        "\n";
    CHECK(outcome(pod + "--\n" + pod) == json + json);
    CHECK(outcome(pod + "-- \t\n" + pod) == json + json);
    CHECK(outcome(pod + "---\n" + pod + "...\n" + pod) == json + json + json);
}

TEST_CASE("the seeds' other documents are read as kubectl reads them") {
    CHECK(outcome(R"(apiVersion: batch.tensorstack.dev/v1beta1
kind: GenericJob
spec:
  successRules:
    - { "worker": [0] }
  replicaSpecs:
    - type: worker
      replicas: 4
      template:
        spec:
          containers:
            - command:
                - sleep
                - '365'
)") == R"({"apiVersion":"batch.tensorstack.dev/v1beta1","kind":"GenericJob",)"
       R"("spec":{"successRules":[{"worker":[0]}],"replicaSpecs":[{"type":"worker","replicas":4,)"
       R"("template":{"spec":{"containers":[{"command":["sleep","365"]}]}}}]}})"
       "\n");
    CHECK(outcome(R"(status:
  allocated:
    cpu: 3
    memory: 600M
  conditions:
  - lastTransitionTime: "2023-12-17T13:48:16Z"
    status: "True"
    type: GroupScheduled
  running: 3
)") == R"({"status":{"allocated":{"cpu":3,"memory":"600M"},"conditions":[)"
       R"({"lastTransitionTime":"2023-12-17T13:48:16Z","status":"True","type":"GroupScheduled"}],)"
       R"("running":3}})"
       "\n");
    CHECK(outcome(R"(labels:
    pod-group.scheduling.sigs.k8s.io/min-available: "3"
metadata:
  creationTimestamp: null
  annotations:
    kai.scheduler/top-owner-metadata: |
      name: ml-training-0
      kind: PodGang
spec:
  minMember: 4  # 1 master + 3 workers (minAvailable)
  topologyConstraint: {}
)") == R"({"labels":{"pod-group.scheduling.sigs.k8s.io/min-available":"3"},)"
       R"("metadata":{"creationTimestamp":null,"annotations":{"kai.scheduler/top-owner-metadata":)"
       R"("name: ml-training-0\nkind: PodGang\n"}},"spec":{"minMember":4,"topologyConstraint":{}}})"
       "\n");
}

TEST_CASE("documents without content are skipped, the others keep their lines") {
    CHECK(outcome("").empty());
    CHECK(outcome("# only a comment\n---\n---\n\n...\n--\n").empty());
    diagnostics out;
    const auto documents = read("---\n# nothing\n---\na: 1\n---\n\nb: [x,\n  y]\n", out);
    REQUIRE(documents.size() == 2);
    const path_step y[] = {"b", std::size_t{1}};
    CHECK(documents[1].locate(y) == location{"f.yaml", 8, 3});
}

TEST_CASE("-- and --- separate only at the beginning of a line and alone") {
    CHECK(outcome("a: |\n  --\n  ---\n  x\nb: --\n") ==
          "{\"a\":\"--\\n---\\nx\\n\",\"b\":\"--\"}\n");
    CHECK(outcome("--- {a: 1}\n--- # comment\nb: 2\n") == "{\"a\":1}\n{\"b\":2}\n");
    CHECK(outcome("--x: 1\n") == "{\"--x\":1}\n");
    CHECK(outcome("%YAML 1.1\n---\na: 1\n") == "{\"a\":1}\n");
}

TEST_CASE("a byte order mark, line ends of Windows and a missing last line end are fine") {
    CHECK(outcome("\xEF\xBB\xBF"
                  "a: 1\r\nb: x\r\n--\r\nc: 2") == "{\"a\":1,\"b\":\"x\"}\n{\"c\":2}\n");
}

TEST_CASE("quoted scalars stay strings, plain ones resolve, tags are honoured") {
    CHECK(
        outcome("[4, \"4\", '4', !!str 4, !!int \"4\", ! 4, yes, 'yes', ~, 010, 1.5, !!float 2]") ==
        R"([4,"4","4","4",4,"4",true,"yes",null,8,1.5E0,2E0])"
        "\n");
    CHECK(outcome("a: !!map {}\nb: !!seq []\nc: !!str\nd:\n") ==
          R"({"a":{},"b":[],"c":"","d":null})"
          "\n");
    CHECK(outcome("a: !local 1\nb: !local [1]\n") == "{\"a\":\"1\",\"b\":[1]}\n");
    CHECK(outcome("a: 1\nb: !!binary aGk=\n") ==
          "f.yaml:2:4: b: the tag !!binary is not read here (expected text)\n");
    CHECK(is_refused("a: !!int x\n"));
}

TEST_CASE(
    "anchors, aliases and merge keys are expanded; what is written wins over what is merged") {
    CHECK(outcome("a: &a {p: 1, q: [2]}\nb: *a\nc:\n  <<: *a\n  p: 9\nd: {p: 9, <<: *a}\n") ==
          R"({"a":{"p":1,"q":[2]},"b":{"p":1,"q":[2]},"c":{"p":9,"q":[2]},"d":{"p":9,"q":[2]}})"
          "\n");
    CHECK(outcome("u: &u {p: 1}\nv: &v {p: 2, q: 2}\nw: {<<: [*u, *v]}\n") ==
          R"({"u":{"p":1},"v":{"p":2,"q":2},"w":{"p":1,"q":2}})"
          "\n");
    CHECK(outcome("k: &k name\n*k : v\n") == "{\"k\":\"name\",\"name\":\"v\"}\n");
    CHECK(outcome("'<<': 1\n") == "{\"<<\":1}\n");
    CHECK(is_refused("<<: 1\n"));
    CHECK(is_refused("a: *nowhere\n"));
    CHECK(outcome("a: &a [1, *a]\n") ==
          "f.yaml:1:11: a[1]: the anchor contains itself (expected an alias to "
          "a value that ends before it)\n");
}

TEST_CASE("keys that are no strings become strings, but lists and mappings cannot be keys") {
    CHECK(outcome("1: a\ntrue: b\n1.50: c\n") == R"({"1":"a","true":"b","1.5":"c"})"
                                                 "\n");
    CHECK(is_refused("? [a]\n: b\n"));
    CHECK(is_refused("? {a: b}\n: c\n"));
    CHECK(is_refused("~: b\n"));
}

TEST_CASE("the last value of a duplicate key counts, with a warning at the second place") {
    // As in kubectl: manifests that clusters accept must be readable.
    CHECK(outcome("spec:\n  a: 1\n  b: 2\n  a: 3\n") ==
          "f.yaml:4:3: warning: spec.a: duplicate key, and the last one counts (expected each key "
          "once)\n{\"spec\":{\"a\":3,\"b\":2}}\n");
    CHECK(outcome("{1: a, \"1\": b}\n") ==
          "f.yaml:1:8: warning: 1: duplicate key, and the last one counts (expected each key "
          "once)\n{\"1\":\"b\"}\n");
    CHECK(is_refused("a: &a {x: 1}\nb: {<<: *a, <<: *a}\n"));
}

TEST_CASE("a document with an error is left out, the others are read") {
    CHECK(outcome("a: 1\n---\nb: [\n---\nc: 3\n---\nd: .nan\n") ==
          "f.yaml:4:1: not YAML: did not find expected node content while parsing a flow node\n"
          "f.yaml:7:4: d: \".nan\" is not a finite number (quote it if it is a text)\n"
          "{\"a\":1}\n{\"c\":3}\n");
}

TEST_CASE("a syntax error of YAML says where it is, in the words of kubectl") {
    CHECK(outcome("a: b: c\n") ==
          "f.yaml:1:5: not YAML: mapping values are not allowed in this context\n");
    CHECK(outcome("a:\n\tb: 1\n") == "f.yaml:2:1: not YAML: found character that cannot start any "
                                     "token while scanning for the next token\n");
    const std::string open =
        "not YAML: found unexpected end of stream while scanning a quoted scalar\n";
    CHECK(outcome("a: 1\n---\nx: \"open\n") == "f.yaml:3:4: " + open + "{\"a\":1}\n");
    CHECK(outcome("x: 'it''s\n") == "f.yaml:1:4: " + open);
    CHECK(outcome("x: !!str \"open\\\"\n") == "f.yaml:1:10: " + open);
    CHECK(outcome("x: 'it''s'\n") == "{\"x\":\"it's\"}\n");
    CHECK(outcome("- a\nb: 1\n").substr(0, 11) == "f.yaml:2:1:");
    CHECK(is_refused("[a] b\n"));
}

TEST_CASE("places count bytes behind characters of several bytes") {
    diagnostics out;
    const auto documents = read("a: \"\xC3\xBC\xE2\x82\xAC\"\nb: [x, y]\n", out);
    REQUIRE(documents.size() == 1);
    const path_step y[] = {"b", std::size_t{1}};
    CHECK(documents[0].locate(y) == location{"f.yaml", 2, 8});
}

TEST_CASE("hostile YAML is answered by an error") {
    CHECK(is_refused(std::string(1'000'000, '[')));
    CHECK(is_refused("items: " + std::string(1'000'000, '[')));
    CHECK(is_refused(std::string(65, '[') + std::string(65, ']')));
    CHECK_FALSE(is_refused(std::string(64, '[') + std::string(64, ']')));
    std::string dashes;
    for (int i = 0; i < 10'000; ++i)
        dashes += "- ";
    CHECK(is_refused(dashes));
    const std::string in_spec = outcome("a: 1\nspec: {b: 2, c: [x, " + std::string(100, '[') +
                                        std::string(100, ']') + "]}\n");
    CHECK(in_spec.substr(0, 34) == "f.yaml:2:82: spec.c[1][0][0][0][0]");
    CHECK(in_spec.find("[0]: nested too deeply (expected at most 64 levels)") != in_spec.npos);
    CHECK(is_refused(std::string("a: b\0c\n", 7)));
    CHECK(is_refused("a: \xFF\n"));
    CHECK(is_refused("\xFF\xFE"
                     "a"));
    CHECK(is_refused("a: " + std::string((4U << 20U) + 1, 'x')));
}

TEST_CASE("aliases that expand to too much, or too deep, are errors") {
    std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    std::string tower = "a0: &a0 []\n";
    std::string bomb = "a: &a " + std::string(1'000'000, 'x') + "\nb: [";
    for (int i = 1; i < 70; ++i) {
        const std::string name = "a" + std::to_string(i);
        const std::string below = "*a" + std::to_string(i - 1);
        laughs += name + ": &" + name + " [" + below + ", " + below + "]\n";
        tower += name + ": &" + name + " [" + below + "]\n";
        bomb += "*a, ";
    }
    CHECK(is_refused(laughs));
    CHECK(is_refused(tower));
    CHECK(is_refused(bomb + "]\n"));
}

TEST_CASE("values and keys are located in YAML, behind aliases and merges too") {
    diagnostics out;
    const auto documents =
        read("base: &base\n  cpu: 1\nspec:\n  <<: *base\n  list:\n  - x\n  - v: 2\n"
             "same: *base\n",
             out);
    REQUIRE(documents.size() == 1);
    const document& one = documents[0];
    const path_step merged[] = {"spec", "cpu"};
    const path_step v[] = {"spec", "list", std::size_t{1}, "v"};
    const path_step alias[] = {"same"};
    const path_step missing[] = {"spec", "list", std::size_t{5}};
    CHECK(one.locate() == location{"f.yaml", 1, 1});
    CHECK(one.locate(merged) == location{"f.yaml", 2, 8});
    CHECK(one.locate(v) == location{"f.yaml", 7, 8});
    CHECK(one.locate(v, place::key) == location{"f.yaml", 7, 5});
    CHECK(one.locate(alias) == location{"f.yaml", 8, 7});
    CHECK(one.locate(missing) == location{"f.yaml", 6, 3});
}

TEST_CASE("the text of a YAML scalar stays available exactly") {
    diagnostics out;
    const auto documents = read(
        "cpu: 1.50\nbig: 12345678901234567890123\noctal: 010\ntext: \"a\\tb\"\nmap: {}\n", out);
    REQUIRE(documents.size() == 1);
    const auto raw = [&](const char* key) {
        const path_step path[] = {key};
        return documents[0].raw_scalar(path);
    };
    CHECK(raw("cpu") == "1.50");
    CHECK(raw("big") == "12345678901234567890123");
    CHECK(raw("octal") == "010");
    CHECK(raw("text") == "a\tb");
    CHECK(raw("map").empty());
    CHECK(raw("none").empty());
}

} // namespace codec_yaml_reader_test
