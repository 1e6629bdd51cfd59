// SPDX-License-Identifier: Apache-2.0
#include <muster/document/document.hpp>

#include <doctest/doctest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/document/diagnostic.hpp>
#include <muster/document/field_reader.hpp>

namespace document_test {

using namespace muster::codec;

TEST_CASE("a document made from a value names its file and the path of a fault, without a line") {
    const document made("pod a",
                        boost::json::object{{"spec", {{"replicas", "many"}, {"cpu", 1.5}}}});
    diagnostics found;
    object_reader root(made, found);
    const field at = root.optional("spec");
    object_reader spec = at.as_object();
    CHECK(!spec.optional("replicas").as_integer());
    REQUIRE(found.findings().size() == 1);
    CHECK(to_text(found.findings().front()) ==
          R"(pod a: spec.replicas: found "many", expected a whole number)");
    CHECK(spec.optional("cpu").as_quantity_text() == "1.5E0");
    CHECK(made.text().empty());
}

TEST_CASE("a scalar of a document made from a value is its JSON, a string without quotes") {
    const document made("x", boost::json::object{{"a", boost::json::array{true, nullptr, "b c"}}});
    const auto scalar = [&](std::size_t at) {
        const path_step path[] = {path_step("a"), path_step(at)};
        return made.raw_scalar(path);
    };
    CHECK(scalar(0) == "true");
    CHECK(scalar(1) == "null");
    CHECK(scalar(2) == "b c");
    CHECK(scalar(3).empty());
    CHECK(made.raw_scalar({}).empty());
}

} // namespace document_test
