// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/grove/gangs.hpp>
#include <muster/apis/grove/names.hpp>
#include <muster/apis/grove/pods.hpp>
#include <muster/apis/grove/set.hpp>
#include <muster/apis/grove/set_reader.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/target.hpp>
#include <muster/sim/declared_attempts.hpp>
#include <muster/sim/object_store.hpp>
#include <muster/sim/read_sets.hpp>
#include <muster/sim/run_script.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// One PodCliqueSet of a run: as it was written, as it is read, and how it fares.
class set_entry {
public:
    set_entry(set_input of, codec::diagnostics& out)
        : input(std::move(of)), options{input.dialect}, key(key_of(input.document)) {
        reread();
        for (std::size_t at = 0; at < read.cliques.size(); ++at)
            attempts.push_back(
                read_attempts(read.cliques[at].annotations, [&](std::string_view note,
                                                                const std::string& message) {
                    report(out, codec::severity::error, input.where,
                           {"spec", "template", "cliques", at, "annotations", note}, message);
                }));
    }
    set_entry(const set_entry&) = delete;
    set_entry& operator=(const set_entry&) = delete;

    set_input input;
    translate::grove_options options;
    codec::object_key key;
    translate::grove_set read;               ///< views what it was read from
    std::vector<declared_attempts> attempts; ///< of each clique
    boost::json::object last;                ///< status
    std::optional<codec::timestamp> began;
    bool arrived = false;
    bool deleted = false;

    [[nodiscard]] const translate::grove_topology* within() const {
        return input.within ? &*input.within : nullptr;
    }

    /// A pod of each clique, as it will be; what is not understood there is said.
    void foresee(std::vector<codec::pod_object>& to, codec::diagnostics& out) const {
        std::set<std::size_t> seen;
        for (const translate::grove_gang& gang : translate::grove_gangs_of(read, 0))
            for (const translate::grove_member& member : gang.members)
                if (seen.insert(member.clique).second)
                    to.push_back(as_pod(
                        translate::grove_pod(read, gang, member, 0, member.name, {}, options),
                        out));
    }

    /// A pod as a scheduler sees it once its gate is open.
    [[nodiscard]] static codec::pod_object as_pod(const boost::json::object& document,
                                                  codec::diagnostics& out) {
        translate::gang_pod pod{vertex_index{0}, translate::as_written(document), {}};
        translate::strip_marks(pod, translate::gang_api::grove);
        boost::json::object& metadata = translate::child_at(pod.document, "metadata");
        metadata.erase("ownerReferences");
        // They speak of all attempts, and are read already.
        boost::json::object& notes = translate::child_at(metadata, "annotations");
        for (const std::string_view key : {run_seconds_key, exit_code_key})
            notes.erase(key);
        const codec::document source("pod " + std::string(translate::metadata_name(document)),
                                     std::move(pod.document));
        codec::object_reader root(source, out);
        codec::reading_context context;
        codec::pod_object made = codec::read_pod(root, context);
        made.metadata.where = {};
        return made;
    }

    /// The gang of this name, however far its scaling groups are scaled. Gangs are asked for in
    /// their order, so it looks where the last one was first.
    [[nodiscard]] std::optional<translate::grove_gang> find_gang(std::string_view name) {
        std::vector<std::int64_t> counts;
        for (const translate::grove_scaling_group& group : read.groups)
            counts.push_back(std::max(group.replicas, group.scale ? group.scale->most : 0));
        for (std::int64_t each = 0; each < read.replicas; ++each) {
            const std::int64_t replica = (last_found_ + each) % read.replicas;
            for (translate::grove_gang& gang : translate::grove_gangs_of(read, replica, counts))
                if (gang.name == name) {
                    last_found_ = replica;
                    return std::move(gang);
                }
        }
        return std::nullopt;
    }

    /// What lets the scaling group or PodClique of this name be scaled by itself.
    [[nodiscard]] std::optional<translate::grove_scale>
    part_scale(const codec::object_key& of) const {
        if (of.name_space != key.name_space)
            return std::nullopt;
        for (std::int64_t replica = 0; replica < read.replicas; ++replica) {
            const auto is_it = [&](const auto& part) {
                return part.scale &&
                       translate::grove::part_name(read.name, replica, part.name) == of.name;
            };
            if (const auto at = std::ranges::find_if(read.groups, is_it); at != read.groups.end())
                return at->scale;
            if (const auto at = std::ranges::find_if(read.cliques, is_it); at != read.cliques.end())
                return at->scale;
        }
        return std::nullopt;
    }

    void scale(std::int64_t replicas) {
        translate::child_at(input.document, "spec")["replicas"] = replicas;
        edited();
    }
    /// Of the first container of a clique, or of all cliques.
    void set_image(std::string_view clique, std::string_view image) {
        for (boost::json::value& each :
             translate::child_at(translate::child_at(input.document, "spec"), "template")
                 .at("cliques")
                 .get_array()) {
            boost::json::object& one = each.get_object();
            if (clique.empty() || translate::string_at(one, "name") == clique)
                translate::child_at(translate::child_at(one, "spec"), "podSpec")
                    .at("containers")
                    .get_array()
                    .front()
                    .get_object()["image"] = image;
        }
        edited();
    }

private:
    void edited() {
        translate::child_at(input.document, "metadata")["generation"] = ++generation_;
        reread();
    }
    void reread() {
        boost::json::object plain = input.document;
        plain.erase("status");
        codec::diagnostics aside; // it was read before
        source_.emplace(key.name, std::move(plain));
        codec::object_reader object(*source_, aside);
        codec::reading_context context;
        read = codec::read_pod_clique_set(object, options.dialect, context);
    }

    std::optional<codec::document> source_; ///< what `read` views
    std::int64_t generation_ = 1;
    std::int64_t last_found_ = 0;
};

/// Grove's backend for schedulers that read PodGangs: no objects are derived from them.
struct pod_gang_backend {
    std::string_view of; ///< a schedulerName

    [[nodiscard]] static constexpr std::string_view name() { return "default"; }
    [[nodiscard]] std::string_view scheduler() const {
        return of.empty() ? std::string_view("default-scheduler") : of;
    }
    [[nodiscard]] static constexpr bool opens_gates(translate::grove_dialect) { return true; }
    [[nodiscard]] static translate::written write(const translate::gang_bundle& bundle,
                                                  translate::grove_dialect) {
        translate::written made;
        for (const translate::gang_pod& pod : bundle.pods)
            made.objects.push_back(pod.document);
        return made;
    }
};

} // namespace sim
} // namespace v0_1
} // namespace muster
