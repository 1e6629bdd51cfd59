// SPDX-License-Identifier: Apache-2.0
// The sets of the walk-through, translated without a cluster.
#include <muster/input/gang_reader.hpp>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/system/error_code.hpp>
#include <doctest/doctest.h>

#include <muster/apis/write.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_grove_seeds_test {

namespace json = boost::json;
using namespace muster::codec;
using namespace muster::translate;

namespace {

std::string file(const std::string& name) {
    std::ifstream in(std::string(MUSTER_TEST_DATA) + "/grove/" + name);
    REQUIRE(in.good());
    return {std::istreambuf_iterator<char>(in), {}};
}

json::object parsed(std::string text) {
    diagnostics out;
    const auto documents = read_documents("f", std::move(text), out);
    REQUIRE(documents.size() == 1);
    return documents[0].root().as_object();
}

/// What the first gang of a file becomes.
std::vector<json::object> translated(const std::string& name, target to, grove_dialect dialect) {
    diagnostics out;
    const auto documents = read_documents(name, file(name), out);
    gang_options options;
    options.dialect = dialect;
    const gangs made = read_gangs(documents, options, out);
    REQUIRE(out.ok());
    REQUIRE(!made.bundles.empty());
    write_options how;
    how.dialect = dialect;
    const written result = write(to, made.bundles.front(), how);
    CHECK(result.violations.empty());
    return result.objects;
}

void rename(std::string& text, const std::string& printed, const std::string& ours) {
    for (auto at = text.find(printed); at != std::string::npos; at = text.find(printed, at))
        text.replace(at, printed.size(), ours), at += ours.size();
}

std::string owner_uid(const json::object& object) {
    return std::string(object.at("metadata").at("ownerReferences").at(0).at("uid").as_string());
}

/// The rows of the table of deviations: file, pointer, printed, ours, ruling.
std::vector<std::vector<std::string>> deviations() {
    std::vector<std::vector<std::string>> rows;
    std::istringstream table(file("deviations.tsv"));
    for (std::string line; std::getline(table, line);) {
        if (line.starts_with("#"))
            continue;
        auto& cells = rows.emplace_back(1);
        for (const char c : line)
            if (c == '\t')
                cells.emplace_back();
            else
                cells.back() += c;
        REQUIRE(cells.size() == 5);
    }
    return rows;
}

} // namespace

TEST_CASE("in the dialect seed the set becomes the PodGang that the page prints") {
    const auto objects = translated("ml-training.yaml", target::grove, grove_dialect::seed);
    REQUIRE(objects.size() == 6);
    std::string printed = file("ml-training-podgang.yaml");
    rename(printed, "abc-123-def", owner_uid(objects[0]));
    const char* const names[] = {"ml-training-0-master-xyz", "ml-training-0-workers-abc",
                                 "ml-training-0-workers-def", "ml-training-0-workers-ghi",
                                 "ml-training-0-workers-jkl"};
    for (std::size_t at = 0; at < 5; ++at)
        rename(printed, names[at],
               std::string(objects[at + 1].at("metadata").at("name").as_string()));
    CHECK(objects[0] == parsed(printed));
    for (std::size_t at = 1; at < objects.size(); ++at) {
        CHECK(objects[at].at("spec").at("schedulingGates") ==
              json::array{json::object{{"name", "grove.io/podgang"}}});
        CHECK(objects[at].at("spec").at("schedulerName") == "kai-scheduler");
    }
}

TEST_CASE("in the dialect seed the set becomes the PodGroup that the page prints") {
    const auto objects = translated("ml-training.yaml", target::kai_0_15, grove_dialect::seed);
    REQUIRE(objects.size() == 6);
    std::string printed = file("ml-training-kai-podgroup.yaml");
    rename(printed, "abc-123-def", owner_uid(objects[0]));
    json::object expected = parsed(printed);
    expected.erase("status"); // the scheduler's
    CHECK(objects[0] == expected);
}

TEST_CASE("in the dialect seed a set of the default scheduler becomes a Workload of its name") {
    const auto objects =
        translated("inference-service.yaml", target::workload_1_35, grove_dialect::seed);
    REQUIRE(objects.size() == 4);
    const json::object printed = parsed(file("inference-service-workload.yaml"));
    for (const char* field : {"apiVersion", "kind"})
        CHECK(objects[0].at(field) == printed.at(field));
    for (const char* field : {"name", "namespace"})
        CHECK(objects[0].at("metadata").at(field) == printed.at("metadata").at(field));
    CHECK(translated("inference-service.yaml", target::grove, grove_dialect::seed)[1]
              .at("spec")
              .as_object()
              .contains("schedulerName") == false);
}

TEST_CASE("in the dialect upstream the completed set becomes what Grove makes of it") {
    auto objects =
        translated("upstream-ml-training.yaml", target::kai_0_15, grove_dialect::upstream);
    REQUIRE(objects.size() == 6);
    json::object expected = parsed(file("upstream-kai-podgroup.yaml"));
    // Its owner does not exist yet, and the annotation on the PodGang is Grove's own affair.
    expected.at("metadata").as_object().erase("ownerReferences");
    expected.at("metadata").as_object().erase("annotations");
    CHECK(objects[0] == expected);
}

TEST_CASE("a set's services come with its gangs") {
    diagnostics out;
    const auto documents = read_documents("f", file("upstream-ml-training.yaml"), out);
    const gangs made = read_gangs(documents, {}, out);
    REQUIRE(made.companions.size() == 2);
    CHECK(made.companions[1].at("kind") == "Service");
    CHECK(made.companions[1].at("metadata").at("name") == "ml-training-1");
    CHECK_FALSE(made.companions[1].at("metadata").as_object().contains("ownerReferences"));
}

TEST_CASE("every row of the table of deviations is true of the page and of what is made here") {
    const auto gangs = translated("ml-training.yaml", target::grove, grove_dialect::seed);
    const auto kai = translated("ml-training.yaml", target::kai_0_15, grove_dialect::seed);
    const auto service = translated("inference-service.yaml", target::grove, grove_dialect::seed);
    const auto workload =
        translated("inference-service.yaml", target::workload_1_35, grove_dialect::seed);
    const auto read = [](const std::string& name) {
        diagnostics out;
        const auto documents = read_documents("f", file(name), out);
        gang_options options;
        options.dialect = grove_dialect::seed;
        return read_gangs(documents, options, out).bundles;
    };
    const std::map<std::string, const json::object*> made{
        {"ml-training-podgang.yaml", &gangs[0]},
        {"ml-training-kai-podgroup.yaml", &kai[0]},
        {"inference-service-workload.yaml", &workload[0]}};
    std::size_t rows = 0;
    for (const std::vector<std::string>& row : deviations()) {
        CAPTURE(row[0] + " " + row[1]);
        ++rows;
        if (row[0] == "walk-through.txt") {
            const std::string text = file(row[0]);
            if (row[1] == "get pods") {
                CHECK(row[2] == "5 pods");
                CHECK(text.find("workers-jkl ") != std::string::npos);
                std::size_t pods = 0;
                for (const gang_bundle& each : read("ml-training.yaml"))
                    pods += each.pods.size();
                CHECK(row[3] == std::to_string(pods) + " pods");
            } else {
                // Whose they are the controller's walk-through shows, step by step.
                CHECK(row[1] == "Pods are deleted through");
                CHECK(row[3] == "PodCliques");
            }
            continue;
        }
        REQUIRE(made.contains(row[0]));
        boost::system::error_code none;
        const json::value page(parsed(file(row[0])));
        const json::value* const printed = page.find_pointer(row[1], none);
        const bool nothing = printed == nullptr || printed->is_null();
        CHECK(nothing == (row[2] == "-"));
        if (!nothing)
            CHECK(*printed == json::value(row[2]));
        const json::value object(*made.at(row[0]));
        const json::value* const ours = object.find_pointer(row[1], none);
        REQUIRE(ours != nullptr);
        if (row[3] == "{uid of PodGang ml-training-0}")
            CHECK(*ours == json::value(read("ml-training.yaml").front().gang.uid));
        else if (row[3] == "{uid of PodGang inference-service-0}")
            CHECK(*ours == json::value(read("inference-service.yaml").front().gang.uid));
        else if (row[3] == "{uid of PodCliqueSet ml-training}")
            CHECK(ours->as_string() != owner_uid(kai[0]));
        else if (row[3] == "{one gang for each podgroup}")
            CHECK(ours->at("podGroups").as_array().size() ==
                  service[0].at("spec").at("podgroups").as_array().size());
        else if (row[3] == "{those of PodGang inference-service-0}")
            CHECK(*ours == service[0].at("metadata").at("labels"));
        else
            FAIL("nothing is known of " << row[3]);
    }
    CHECK(rows == 7);
}

} // namespace codec_grove_seeds_test
