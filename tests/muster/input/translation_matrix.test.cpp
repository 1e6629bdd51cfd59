// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/apis/job_kinds.hpp>
#include <muster/apis/write.hpp>
#include <muster/input/gang_reader.hpp>
#include <muster/input/read_documents.hpp>

#include "every_kind.hpp"

namespace codec_translation_matrix_test {
namespace {

using namespace muster::translate;
using muster::codec::diagnostics;

struct reading {
    muster::codec::gangs all;
    std::string errors;
};

reading read(std::string text) {
    diagnostics found;
    const auto documents = muster::codec::read_documents("in", std::move(text), found);
    reading made{muster::codec::read_gangs(documents, {}, found), {}};
    for (const auto& finding : found.findings())
        if (finding.level == muster::codec::severity::error)
            made.errors += to_text(finding) + "\n";
    return made;
}

/// What one target makes of an input, in a line.
struct cell {
    std::set<std::string> losses;
    std::vector<std::string> refusals;
    boost::json::array objects;
};

cell translate(const muster::codec::gangs& from, target to) {
    cell made;
    for (const gang_bundle& bundle : from.bundles) {
        write_options options;
        options.kai_topology = "dc";
        written one = write(to, bundle, options);
        for (const loss& each : one.losses)
            made.losses.emplace(to_text(each.what));
        for (const violation& each : one.violations)
            made.refusals.push_back(each.object + ": " + each.field + ": " + each.message);
        for (auto& each : one.objects)
            made.objects.emplace_back(std::move(each));
    }
    return made;
}

std::size_t count_pods(const boost::json::array& objects) {
    return static_cast<std::size_t>(std::ranges::count_if(
        objects, [](const auto& each) { return each.at("kind").as_string() == "Pod"; }));
}

} // namespace

TEST_CASE("every kind of job that is read stands in the matrix") {
    std::string all;
    for (const auto& [kind, text] : codec_tests::every_kind())
        all += text;
    for (const muster::codec::job_kind& each : muster::codec::job_kinds) {
        // A JobFlow has no pods of its own, and another version of a kind stands for the one that
        // is not read.
        if (each.kind == "JobFlow")
            continue;
        const auto group = each.api_version.substr(0, each.api_version.find('/') + 1);
        CAPTURE(std::string(each.api_version));
        CAPTURE(std::string(each.kind));
        bool there = false;
        for (const muster::codec::job_kind& other : muster::codec::job_kinds)
            there =
                there || (other.kind == each.kind && other.api_version.starts_with(group) &&
                          all.find("apiVersion: " + std::string(other.api_version) +
                                   ", kind: " + std::string(each.kind) + ",") != std::string::npos);
        CHECK(there);
    }
}

// tests/data/translation_matrix.tsv lists kind, target and what is lost; MUSTER_UPDATE=1 writes it.
TEST_CASE("every kind can be written for every target, and what is lost is as listed") {
    std::string table;
    for (const auto& each_kind : codec_tests::every_kind()) {
        const std::string& kind = each_kind.first;
        CAPTURE(kind);
        const reading input = read(each_kind.second);
        CHECK(input.errors == "");
        CHECK(!input.all.bundles.empty());
        std::size_t pods = 0;
        for (const gang_bundle& bundle : input.all.bundles)
            pods += bundle.pods.size();
        for (const auto& each_target : targets) {
            const target to = each_target.first;
            const std::string_view name = each_target.second;
            CAPTURE(name);
            const cell made = translate(input.all, to);
            std::string line = kind + '\t' + std::string(name) + '\t';
            std::string losses;
            for (const std::string& each : made.losses)
                losses += (losses.empty() ? "" : " ") + each;
            line += losses;
            for (const std::string& each : made.refusals)
                line += "\trefused: " + each;
            table += line + '\n';
            if (!made.refusals.empty())
                continue;
            CHECK(count_pods(made.objects) == pods);
            // Somebody who reads the objects finds nothing wrong with them.
            if (to != target::pods)
                CHECK(read(boost::json::serialize(boost::json::object{
                               {"apiVersion", "v1"}, {"kind", "List"}, {"items", made.objects}}))
                          .errors == "");
        }
    }
    const std::string file = std::string(MUSTER_TEST_DATA) + "/translation_matrix.tsv";
    if (std::getenv("MUSTER_UPDATE"))
        std::ofstream(file) << table;
    std::ifstream stream(file);
    const std::string expected{std::istreambuf_iterator<char>(stream), {}};
    std::istringstream now(table);
    std::istringstream then(expected);
    for (std::string is, was; std::getline(now, is);) {
        std::getline(then, was);
        CHECK(is == was);
    }
    CHECK(table.size() == expected.size());
}

} // namespace codec_translation_matrix_test
