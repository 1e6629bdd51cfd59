// SPDX-License-Identifier: Apache-2.0
#include <muster/document/field_reader.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <muster/input/read_documents.hpp>

namespace codec_field_reader_test {

using namespace muster::codec;

namespace {

/// Reads one document, hands its root to `use`, and gives the findings, a line each.
template<class Use>
std::string findings(std::string text, Use&& use) {
    diagnostics out;
    const auto documents = read_documents("f", std::move(text), out);
    REQUIRE(documents.size() == 1);
    {
        object_reader root(documents[0], out);
        use(root);
    }
    std::string lines;
    for (const diagnostic& finding : out.findings())
        lines += to_text(finding) + '\n';
    return lines;
}

} // namespace

TEST_CASE("typed fields are read without a finding") {
    const std::string text = R"(name: job
count: 3
whole: 2.0
paused: true
created: 2023-12-17T13:48:16Z
nothing: null
)";
    CHECK(findings(text, [](object_reader& root) {
              CHECK(root.required("name").as_string() == "job");
              CHECK(root.required("count").as_integer(0, 10) == 3);
              CHECK(root.optional("whole").as_integer() == 2);
              CHECK(root.optional("paused").as_boolean() == true);
              CHECK(root.required("created").as_timestamp() == 1'702'820'896'000'000'000);
              CHECK_FALSE(root.optional("nothing").is_present());
              CHECK_FALSE(root.optional("nothing").as_string());
              CHECK_FALSE(root.optional("absent").as_integer());
              root.finish();
          }).empty());
}

TEST_CASE("a wrong type is an error with its place, path, what was found and what was expected") {
    const std::string text = R"(spec:
  replicas: many
  name: 010
  paused: "yes"
  list: {}
  map: [1]
  time: 2023-12-17
  priority: 101
  cpu: [4]
)";
    CHECK(findings(text,
                   [](object_reader& root) {
                       object_reader spec = root.required("spec").as_object();
                       CHECK_FALSE(spec.optional("replicas").as_integer(0, 10));
                       CHECK_FALSE(spec.optional("name").as_string());
                       CHECK_FALSE(spec.optional("paused").as_boolean());
                       CHECK_FALSE(spec.optional("list").as_array().is_present());
                       CHECK_FALSE(spec.optional("map").as_object().is_present());
                       CHECK_FALSE(spec.optional("time").as_timestamp());
                       CHECK_FALSE(spec.optional("priority").as_integer(0, 100));
                       CHECK_FALSE(spec.optional("cpu").as_quantity_text());
                   }) ==
          "f:2:13: spec.replicas: found \"many\", expected a whole number from 0 to 10\n"
          "f:3:9: spec.name: found 010, expected a string (quote it)\n"
          "f:4:11: spec.paused: found \"yes\", expected true or false\n"
          "f:5:9: spec.list: found an object, expected a list\n"
          "f:6:8: spec.map: found a list, expected an object\n"
          "f:7:9: spec.time: found \"2023-12-17\", expected an RFC 3339 time such as "
          "2023-12-17T13:48:16Z\n"
          "f:8:13: spec.priority: found 101, expected a whole number from 0 to 100\n"
          "f:9:8: spec.cpu: found a list, expected a quantity such as 500m, 4 or 16Gi\n");
}

TEST_CASE("a required field that is missing or null is an error at its object") {
    CHECK(findings("spec:\n  a: 1\n  queue:\n",
                   [](object_reader& root) {
                       object_reader spec = root.required("spec").as_object();
                       CHECK_FALSE(spec.required("name").as_string());
                       CHECK_FALSE(spec.required("queue").as_string());
                   }) == "f:2:3: spec.name: required, but missing\n"
                         "f:3:3: spec.queue: required, but missing\n");
}

TEST_CASE("the fields of an absent object are absent and not reported again") {
    CHECK(findings("a: 1\n", [](object_reader& root) {
              object_reader spec = root.required("spec").as_object();
              object_reader deep = spec.required("template").as_object();
              CHECK_FALSE(deep.required("name").as_string());
              CHECK(deep.optional("list").as_array().size() == 0);
              deep.finish();
          }) == "f:1:1: spec: required, but missing\n");
}

TEST_CASE("a field that was never asked for is a warning at its key, unless ignored or null") {
    const std::string text = R"({
  "known": 1, "opaque": {"x": 1}, "empty": null,
  "minmember": 3,
  "sub": {"nvidia.com/gpu": 1}
})";
    CHECK(findings(text,
                   [](object_reader& root) {
                       CHECK(root.optional("known").as_integer() == 1);
                       root.ignore({"opaque", "absent"});
                       object_reader sub = root.optional("sub").as_object();
                       sub.finish();
                       root.finish();
                       root.finish();
                   }) == "f:4:11: warning: sub[nvidia.com/gpu]: unknown field, ignored\n"
                         "f:3:3: warning: minmember: unknown field, ignored\n");
}

TEST_CASE("an object of many fields keeps track of each") {
    std::string text = "{";
    for (int i = 0; i < 200; ++i)
        text += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + (i < 199 ? "," : "}");
    CHECK(findings(text,
                   [](object_reader& root) {
                       for (int i = 0; i < 200; ++i) {
                           if (i == 30 || i == 130)
                               continue;
                           const std::string key = "k" + std::to_string(i);
                           CHECK(root.optional(key).as_integer() == i);
                           CHECK(root.optional(key).as_integer() == i);
                       }
                       root.finish();
                   }) == "f:1:252: warning: k30: unknown field, ignored\n"
                         "f:1:1212: warning: k130: unknown field, ignored\n");
}

TEST_CASE("the text of a quantity is exact") {
    const std::string text = R"(a: 1.50
b: 4
c: "4x"
d: 12345678901234567890123
e: 010
f: 500m
g: 1_000.5
)";
    CHECK(findings(text, [](object_reader& root) {
              const auto quantity = [&](const char* key) {
                  return root.required(key).as_quantity_text().value_or("none");
              };
              CHECK(quantity("a") == "1.50");
              CHECK(quantity("b") == "4");
              CHECK(quantity("c") == "4x");
              CHECK(quantity("d") == "12345678901234567890123");
              CHECK(quantity("e") == "8");
              CHECK(quantity("f") == "500m");
              CHECK(quantity("g") == "1000.5");
              root.required("c").error("\"4x\" is not a quantity (expected e.g. 500m, 4)");
          }) == "f:3:4: c: \"4x\" is not a quantity (expected e.g. 500m, 4)\n");
}

TEST_CASE("lists and maps are visited in the order of the text") {
    const std::string text = R"(containers:
- name: a
- 7
- name: b
  image: x
- name: 5
labels:
  app: train
  tier: 3
tags: [u, v]
)";
    std::string seen;
    CHECK(findings(text,
                   [&](object_reader& root) {
                       const array_reader containers = root.required("containers").as_array();
                       CHECK(containers.size() == 4);
                       containers.for_each_object([&](object_reader& container) {
                           seen += container.required("name").as_string().value_or("-");
                           container.finish();
                       });
                       object_reader labels = root.required("labels").as_object();
                       labels.for_each_string([&](std::string_view key, std::string_view value) {
                           seen += ' ' + std::string(key) + '=' + std::string(value);
                       });
                       labels.finish();
                       const array_reader tags = root.required("tags").as_array();
                       tags.for_each([&](const field& tag) {
                           seen += ' ' + std::string(tag.as_string().value_or("-"));
                       });
                       root.finish();
                   }) == "f:3:3: containers[1]: found 7, expected an object\n"
                         "f:5:3: warning: containers[2].image: unknown field, ignored\n"
                         "f:6:9: containers[3].name: found 5, expected a string (quote it)\n"
                         "f:9:9: labels.tier: found 3, expected a string (quote it)\n");
    CHECK(seen == "ab- app=train u v");
}

TEST_CASE("a word that YAML takes for true or false is named as it was written") {
    const auto said = [](const std::string& text) {
        return findings(text, [](object_reader& root) {
            CHECK_FALSE(root.required("country").as_string());
            root.finish();
        });
    };
    for (const char* word : {"n", "N", "no", "NO", "off", "Off"})
        CHECK(said("country: " + std::string(word) + "\n") ==
              "f:1:10: country: found " + std::string(word) +
                  ", which YAML takes for false, expected a string (quote it)\n");
    CHECK(said("country: y\n") ==
          "f:1:10: country: found y, which YAML takes for true, expected a string (quote it)\n");
    for (const char* text : {"country: true\n", "{\"country\": true}"})
        CHECK(said(text).ends_with(": country: found true, expected a string (quote it)\n"));
    for (const char* word : {"'no'", "\"y\"", "None"})
        CHECK(findings("country: " + std::string(word) + "\n", [](object_reader& root) {
                  CHECK(root.required("country").as_string());
              }) == "");
}

TEST_CASE("of the fields that nobody asked for those that are taken are known") {
    std::string seen;
    CHECK(findings("{a: 1, b: 2, c: null, d: 4}\n", [&](object_reader& root) {
              static_cast<void>(root.optional("a"));
              root.take_each([&](std::string_view key, const field& at) {
                  seen += std::string(key) + (at.is_present() ? " " : "? ");
                  return key != "d";
              });
              root.finish();
          }) == "f:1:23: warning: d: unknown field, ignored\n");
    CHECK(seen == "b c? d ");
}

TEST_CASE("a document that is no object is an error") {
    CHECK(findings("[1]", [](object_reader& root) {
              CHECK_FALSE(root.is_present());
              CHECK_FALSE(root.required("kind").as_string());
          }) == "f:1:1: found a list, expected an object\n");
}

} // namespace codec_field_reader_test
