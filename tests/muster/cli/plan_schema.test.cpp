// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace cli_plan_schema_test {

// The golden outputs of `muster plan -o json` are what the golden `muster schema plan` says: the
// tests of the command line hold the program to both.

namespace {

using boost::json::object;
using boost::json::value;

/// JSON Schema (draft 2020-12), the keywords that the schema uses; any other is a failure.
class validator {
public:
    explicit validator(const value& schema) : root_(&schema) {}

    /// What is wrong, `path: keyword` each; empty when nothing is.
    [[nodiscard]] std::vector<std::string> check(const value& what) {
        found_.clear();
        judge(what, *root_, "");
        return found_;
    }

private:
    static std::string text_of(const boost::json::string& from) {
        return {from.data(), from.size()};
    }

    static bool is_type(const value& what, std::string_view type) {
        return type == "object"    ? what.is_object()
               : type == "array"   ? what.is_array()
               : type == "string"  ? what.is_string()
               : type == "integer" ? what.is_int64() || what.is_uint64()
               : type == "null"    ? what.is_null()
               : type == "boolean" ? what.is_bool()
                                   : false;
    }

    bool matches(const value& what, const value& schema) {
        validator alone(*root_);
        alone.judge(what, schema, "");
        return alone.found_.empty();
    }

    void judge(const value& what, const value& schema, const std::string& path) {
        for (const auto& [name, by] : schema.as_object()) {
            const std::string keyword(name.data(), name.size());
            if (!holds(what, schema.as_object(), keyword, by, path))
                found_.push_back(path + ": " + keyword);
        }
    }

    bool holds(const value& what, const object& schema, const std::string& keyword, const value& by,
               const std::string& path) {
        if (keyword == "$schema" || keyword == "$id" || keyword == "$defs" || keyword == "title" ||
            keyword == "description")
            return true;
        if (keyword == "$ref") {
            const std::string name = text_of(by.as_string());
            const std::string prefix = "#/$defs/";
            REQUIRE(name.compare(0, prefix.size(), prefix) == 0);
            judge(what, root_->at("$defs").at(name.substr(prefix.size())), path);
            return true;
        }
        if (keyword == "type") {
            if (by.is_string())
                return is_type(what, text_of(by.as_string()));
            const auto& types = by.as_array();
            return std::any_of(types.begin(), types.end(), [&](const value& type) {
                return is_type(what, text_of(type.as_string()));
            });
        }
        if (keyword == "const")
            return what == by;
        if (keyword == "enum")
            return std::find(by.as_array().begin(), by.as_array().end(), what) !=
                   by.as_array().end();
        if (keyword == "oneOf")
            return std::count_if(by.as_array().begin(), by.as_array().end(),
                                 [&](const value& each) { return matches(what, each); }) == 1;
        if (keyword == "minimum")
            return !what.is_int64() || what.as_int64() >= by.as_int64();
        if (keyword == "minItems")
            return !what.is_array() ||
                   what.as_array().size() >= static_cast<std::size_t>(by.as_int64());
        if (keyword == "minLength")
            return !what.is_string() ||
                   what.as_string().size() >= static_cast<std::size_t>(by.as_int64());
        if (keyword == "pattern")
            return !what.is_string() || std::regex_search(text_of(what.as_string()),
                                                          std::regex(text_of(by.as_string())));
        if (keyword == "items") {
            for (std::size_t at = 0; what.is_array() && at < what.as_array().size(); ++at)
                judge(what.as_array()[at], by, path + "/" + std::to_string(at));
            return true;
        }
        if (keyword == "required")
            return !what.is_object() ||
                   std::all_of(by.as_array().begin(), by.as_array().end(), [&](const value& name) {
                       return what.as_object().contains(name.as_string());
                   });
        if (keyword == "properties") {
            for (const auto& [name, each] : by.as_object())
                if (what.is_object() && what.as_object().contains(name))
                    judge(what.at(name), each, path + "/" + std::string(name.data(), name.size()));
            return true;
        }
        if (keyword == "additionalProperties")
            return no_others(what, schema, by, path);
        return false;
    }

    bool no_others(const value& what, const object& schema, const value& by,
                   const std::string& path) {
        const value* known = schema.if_contains("properties");
        bool fine = true;
        if (what.is_object())
            for (const auto& [name, each] : what.as_object()) {
                if (known && known->as_object().contains(name))
                    continue;
                if (by.is_bool())
                    fine = fine && by.as_bool();
                else
                    judge(each, by, path + "/" + std::string(name.data(), name.size()));
            }
        return fine;
    }

    const value* root_;
    std::vector<std::string> found_;
};

value golden(const std::string& name) {
    std::ifstream file(MUSTER_TEST_DATA "/../muster_cli/golden/" + name);
    REQUIRE(file.good());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return boost::json::parse(text);
}

/// Keys stand in the order in which the schema lists them.
bool in_order(const object& what, const value& properties) {
    std::vector<std::string> listed;
    for (const auto& [name, each] : properties.as_object())
        if (what.contains(name))
            listed.emplace_back(name.data(), name.size());
    std::vector<std::string> there;
    for (const auto& [name, each] : what)
        there.emplace_back(name.data(), name.size());
    return listed == there;
}

} // namespace

TEST_CASE("what `muster plan` prints is what its schema says") {
    const value schema = golden("schema_plan.json");
    validator plans(schema);
    for (const char* name : {"everything.json", "small.json", "now.json", "undecided.json",
                             "topology_proofs.json", "preempt.json", "nominated_surplus.json"}) {
        CAPTURE(name);
        const value plan = golden(name);
        for (const std::string& each : plans.check(plan))
            FAIL_CHECK(each);
        CHECK(in_order(plan.as_object(), schema.at("properties")));
        const value& defs = schema.at("$defs");
        for (const value& group : plan.at("groups").as_array()) {
            CHECK(in_order(group.as_object(), defs.at("group").at("properties")));
            for (const value& each : group.at("placements").as_array())
                CHECK(in_order(each.as_object(), defs.at("placement").at("properties")));
            for (const value& each : group.at("reasons").as_array())
                CHECK(in_order(each.as_object(), defs.at("reason").at("properties")));
            if (const value* status = group.as_object().if_contains("status"))
                CHECK(in_order(status->as_object(), defs.at("status").at("properties")));
        }
    }
}

TEST_CASE("what `muster whatif` and `muster diff` print is what their schema says") {
    const value schema = golden("schema_diff.json");
    validator diffs(schema);
    for (const char* name :
         {"whatif.json", "whatif_remove.json", "diff.json", "nominated_surplus_diff.json"}) {
        CAPTURE(name);
        const value diff = golden(name);
        for (const std::string& each : diffs.check(diff))
            FAIL_CHECK(each);
        CHECK(in_order(diff.as_object(), schema.at("properties")));
        CHECK_FALSE(diff.at("groups").as_array().empty());
        for (const value& group : diff.at("groups").as_array())
            CHECK(in_order(group.as_object(), schema.at("$defs").at("group").at("properties")));
    }
}

TEST_CASE("a placement that waits for other pods to leave is marked in a group that starts") {
    const value plan = golden("nominated_surplus.json");
    std::size_t now = 0;
    std::size_t later = 0;
    for (const value& group : plan.at("groups").as_array())
        for (const value& each : group.at("placements").as_array())
            ++(each.as_object().contains("nominated") ? later : now);
    CHECK(now == 1);
    CHECK(later == 1);
    CHECK(plan.at("summary").at("podsPlaced") == 1);
    CHECK(plan.at("summary").at("podsNominated") == 1);
}

TEST_CASE("what `muster explain` prints is a list of groups as the plan's schema says") {
    value schema = golden("schema_plan.json");
    schema.as_object()["type"] = "array";
    schema.as_object()["items"] = object{{"$ref", "#/$defs/group"}};
    for (const char* other : {"properties", "required", "additionalProperties"})
        schema.as_object().erase(other);
    validator groups(schema);
    const value& defs = schema.at("$defs");
    std::size_t changes = 0;
    for (const char* name :
         {"lab.explain.json", "everything.explain.json", "resource_claims.explain.json"}) {
        CAPTURE(name);
        const value explained = golden(name);
        for (const std::string& each : groups.check(explained))
            FAIL_CHECK(each);
        for (const value& group : explained.as_array()) {
            CHECK(in_order(group.as_object(), defs.at("group").at("properties")));
            for (const value& remedy : group.at("wouldStartIf").as_array())
                for (const value& change : remedy.at("changes").as_array()) {
                    ++changes;
                    CHECK(in_order(change.as_object(), defs.at("change").at("properties")));
                }
        }
    }
    CHECK(changes > 20);
}

TEST_CASE("the schema refuses what is no plan") {
    const value schema = golden("schema_plan.json");
    validator plans(schema);
    const value plan = golden("small.json");
    const auto refuses = [&](const auto& spoil) {
        value spoilt = plan;
        spoil(spoilt.as_object());
        return !plans.check(spoilt).empty();
    };
    CHECK_FALSE(refuses([](object&) {}));
    CHECK(refuses([](object& it) { it.erase("now"); }));
    CHECK(refuses([](object& it) { it["now"] = "yesterday"; }));
    CHECK(refuses([](object& it) { it["kind"] = "Plans"; }));
    CHECK(refuses([](object& it) { it["extra"] = 1; }));
    CHECK(refuses([](object& it) { it["summary"].as_object()["nodes"] = -1; }));
    CHECK(refuses([](object& it) { it["summary"].as_object()["nodes"] = "1"; }));
    CHECK(refuses([](object& it) { it["groups"].as_array()[0].as_object()["answer"] = "maybe"; }));
    CHECK(refuses([](object& it) { it["groups"].as_array()[0].as_object()["gate"] = ""; }));
}

TEST_CASE("the schema knows proofs that branch") {
    const value schema = golden("schema_plan.json");
    validator plans(schema);
    const std::string leaf = R"({"weights": [1], "prices": {"cpu": 2}})";
    const std::string node =
        R"({"class": 0, "node": "n", "atMost": 0, "low": )" + leaf + R"(, "high": )" + leaf + "}";
    value plan = golden("small.json");
    value& proof = plan.at("groups").as_array()[1].at("certificate").as_object()["proof"];
    proof = boost::json::parse(node);
    CHECK(plans.check(plan).empty());
    proof.as_object().erase("high");
    CHECK_FALSE(plans.check(plan).empty());
}

} // namespace cli_plan_schema_test
