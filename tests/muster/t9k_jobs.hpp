// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/jobs/job_reader.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/input/read_documents.hpp>

namespace muster_test {

/// A T9k job with the text that it views, and what the reader said about it.
struct t9k_input {
    std::vector<muster::codec::document> documents;
    muster::translate::t9k_job job;
    std::string findings; ///< one a line, errors and warnings
    std::string bare;     ///< apart from them, warnings that a template has no containers
};

inline t9k_input read_t9k(std::string text, muster::codec::reading_context context = {}) {
    using namespace muster::codec;
    t9k_input made;
    diagnostics out;
    made.documents = read_documents("job.yaml", std::move(text), out);
    if (!made.documents.empty()) {
        object_reader root(made.documents[0], out);
        const auto version = root.optional("apiVersion").as_string().value_or("");
        const auto word = root.optional("kind").as_string().value_or("");
        const auto kind = t9k_job_kind(version, word);
        REQUIRE(kind);
        made.job = read_t9k_job(root, *kind, context);
    }
    for (const diagnostic& finding : out.findings())
        (finding.message.starts_with("there are no containers") ? made.bare : made.findings) +=
            to_text(finding) + '\n';
    return made;
}

/// A job named `j` of a kind with this spec, in flow style.
inline t9k_input t9k_of(std::string_view kind, std::string_view spec) {
    return read_t9k("apiVersion: batch.tensorstack.dev/v1beta1\nkind: " + std::string(kind) +
                    "\nmetadata: {name: j, namespace: lab, uid: u-1}\nspec: " + std::string(spec) +
                    "\n");
}

} // namespace muster_test
