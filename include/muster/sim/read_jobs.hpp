// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/each_object.hpp>
#include <muster/apis/t9k/jobs/job_reader.hpp>
#include <muster/lifecycle/job_status_reader.hpp>
#include <muster/sim/job_controller.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// The T9k jobs of an input; other objects are passed over. They view the documents and the
/// context, which outlive them. O(input).
[[nodiscard]] inline std::vector<job_input> read_jobs(const std::vector<codec::document>& documents,
                                                      codec::reading_context& context,
                                                      codec::diagnostics& out) {
    std::vector<job_input> read;
    codec::each_object(documents, out,
                       [&](codec::object_reader& object, std::string_view version,
                           std::string_view kind, codec::object_place where) {
                           const auto job_kind = codec::t9k_job_kind(version, kind);
                           if (!job_kind) {
                               object.ignore_rest();
                               return;
                           }
                           const codec::field metadata_at = object.optional("metadata");
                           codec::object_reader metadata = metadata_at.as_object();
                           job_input made;
                           made.created = context.time(metadata.optional("creationTimestamp"));
                           const codec::field status_at = object.optional("status");
                           codec::object_reader status = status_at.as_object();
                           if (status.size() > 0)
                               made.status = codec::read_job_status(status);
                           made.job = codec::read_t9k_job(object, *job_kind, context);
                           made.where = std::move(where);
                           read.push_back(std::move(made));
                       });
    return read;
}

} // namespace sim
} // namespace v0_1
} // namespace muster
