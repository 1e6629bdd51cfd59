// SPDX-License-Identifier: Apache-2.0
#include <muster/document/diagnostic.hpp>

#include <string>

#include <doctest/doctest.h>

namespace codec_diagnostic_test {

using namespace muster::codec;

TEST_CASE("a finding is one line: place, path, message") {
    const diagnostic finding{severity::error,
                             {"pod.yaml", 12, 18},
                             "spec.containers[0].resources.requests.cpu",
                             "\"4x\" is not a quantity (expected e.g. 500m, 4)"};
    CHECK(to_text(finding) ==
          "pod.yaml:12:18: spec.containers[0].resources.requests.cpu: \"4x\" is "
          "not a quantity (expected e.g. 500m, 4)");
    CHECK(to_text(diagnostic{severity::warning, {"a", 1, 2}, "x", "unknown field, ignored"}) ==
          "a:1:2: warning: x: unknown field, ignored");
    CHECK(to_text(diagnostic{severity::error, {"dir", 0, 0}, "", "no manifest"}) ==
          "dir: no manifest");
}

TEST_CASE("findings beyond the kept number are counted, each severity for itself") {
    diagnostics out(2);
    for (int i = 0; i < 5; ++i)
        out.add({severity::warning, {}, "", ""});
    out.error({"f", 1, 1}, "wrong");
    int made = 0;
    out.add_made(severity::warning, [&] {
        ++made;
        return diagnostic{};
    });
    CHECK(made == 0);
    CHECK(out.warnings() == 6);
    CHECK(out.errors() == 1);
    CHECK_FALSE(out.ok());
    CHECK(out.findings().size() == 3);
    CHECK(out.dropped() == 4);
}

} // namespace codec_diagnostic_test
