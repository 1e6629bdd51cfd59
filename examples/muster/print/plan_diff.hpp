// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/document/diagnostic.hpp>

#include "../plan/report.hpp"

namespace cli {

/// What two plans are compared by.
struct plan_digest {
    struct group {
        std::optional<std::string> queue;
        std::string answer;
        /// Its first reason, if it does not start.
        std::string reason;
        /// Members that hold a node once the plan is carried out and all have left that are to be
        /// evicted, or have succeeded.
        std::int64_t pods = 0;
        /// What starts now, or once those have left, by pod.
        std::map<std::string, std::string> placements;
        /// How many of these pods start once other pods have left.
        std::int64_t nominated = 0;
        /// Some of those make room for others.
        bool makes_room = false;
    };
    /// By namespace, name and origin.
    std::map<std::tuple<std::string, std::string, std::string>, group> groups;
    std::int64_t nodes = 0;
    std::int64_t starting = 0;
    std::int64_t pods_placed = 0;
    std::int64_t pods_pending = 0;
    /// By the name of the kind.
    std::map<std::string, resource_use> resources;
};

[[nodiscard]] plan_digest digest_of(const report& made);

/// Reads what `muster plan -o json` wrote; what is wrong with it goes to `out`.
[[nodiscard]] plan_digest read_digest(const std::string& file, muster::codec::diagnostics& out);

/// Returns the differences as JSON: groups that gained or lost members, moved pods, and the changes
/// of the metrics.
[[nodiscard]] boost::json::object diff_object(const std::string& kind,
                                              const std::vector<std::string>& changes,
                                              const plan_digest& before, const plan_digest& after);
/// The same for people: the groups for which something changed, then the figures; `wide` adds the
/// pods that move.
[[nodiscard]] std::string diff_table(const plan_digest& before, const plan_digest& after, bool wide,
                                     bool with_header);

/// The JSON Schema of `diff_object`.
extern const char* const diff_schema;

} // namespace cli
