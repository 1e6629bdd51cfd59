// SPDX-License-Identifier: Apache-2.0
#include "live_words.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <muster/admission/explain.hpp>
#include <muster/admission/members.hpp>
#include <muster/codec/volume_words.hpp>

#include "fewest_members.hpp"
#include "headline.hpp"
#include "output.hpp"
#include "reason_text.hpp"
#include "report.hpp"

namespace cli {

namespace {

namespace codec = muster::codec;

/// The scheduler waits for it: it is given up earlier than `muster explain` gives up.
constexpr std::int64_t most_steps = std::int64_t{1} << 14;

/// Returns the volume effects of the gang's waiting members.
codec::volumes_of_pods volumes_of(const live_cluster& cluster, const codec::group_key& key) {
    codec::volumes_of_pods found;
    for (const codec::pod_object* const pod : cluster.objects().gangs().members(key))
        if (const auto* const volumes = cluster.objects().storage().plan().find(pod->metadata.key);
            volumes && pod->node.empty())
            found.emplace_back(pod->metadata.key.name, volumes);
    return found;
}

/// What exactly is wrong with a group's object, or not modelled of its members.
std::string detail_of(const live_cluster& cluster, const codec::group_key& key, reason_code why) {
    const auto& gangs = cluster.objects().gangs();
    if (std::string wrong = gangs.wrong_with(key); !wrong.empty())
        return wrong;
    if (why == reason_code::unsupported_constraint) {
        for (const codec::pod_object* const pod : gangs.members(key)) {
            std::vector<std::string> all = pod->unsupported;
            for (const auto& [kind, amount] : pod->requests)
                if (!cluster.objects().kinds().find(kind))
                    all.push_back(too_many_kinds(kind));
            if (all.empty())
                continue;
            std::string out = "pod " + pod->metadata.key.name + ": ";
            for (std::size_t at = 0; at < all.size(); ++at)
                out += (at > 0 ? ", " : "") + all[at];
            return out;
        }
        return "a member's constraints";
    }
    if (why == reason_code::volume_not_ready)
        return codec::waiting_volumes_text(volumes_of(cluster, key));
    const std::string name = " " + key.name_space + "/" + key.name;
    for (const auto& [object, wrong] : cluster.objects().broken())
        if (object.ends_with(name) && !wrong.empty())
            return wrong.front();
    return why == reason_code::members_disagree ? "its members disagree about their group"
                                                : "its group is malformed";
}

} // namespace

std::vector<reason_line> live_words::reasons(const live_state& known,
                                             muster::gang_index which) const {
    const auto& gang = known[which];
    const muster::kind_table& kinds = cluster->objects().kinds();
    muster::explain_options options;
    options.steps = most_steps;
    options.kinds = &kinds;
    const bool never = gang.last.kind == muster::answer::never;
    options.scope =
        never ? muster::certificate_scope::emptied : muster::certificate_scope::free_now;
    reason_context context;
    context.kinds = &kinds;
    context.tree = &gang.spec.tree;
    context.scope = *options.scope;
    context.single_pod = gang.key.origin == codec::group_origin::single_pod;
    context.name_space = gang.key.name_space;
    context.group = gang.key.name;
    std::vector<reason_line> lines;
    for (const muster::reason& each : muster::explain(known, which, options)) {
        context.detail = detail_of(*cluster, gang.key, each.code);
        if (each.code == reason_code::volume_out_of_reach) {
            std::vector<const muster::node<live_cluster::traits::width>*> nodes;
            for (const muster::node_index node : known.node_order())
                if (known[node].present)
                    nodes.push_back(&known[node].spec);
            context.volumes = codec::volume_reach_text(volumes_of(*cluster, gang.key), nodes);
        }
        context.queue = each.queue ? known[*each.queue].key : gang.spec.queue.value_or("");
        reason_line line;
        if (each.resource) {
            line.resource = kinds.name(*each.resource);
            line.needed = amount_text(*line.resource, each.amount_needed);
            line.left = amount_text(*line.resource, each.amount_left);
            context.claims =
                codec::unbound_claims_text(volumes_of(*cluster, gang.key), *line.resource);
        }
        line.code = code_name(each);
        line.kind = kind_name(each.kind);
        if (is_about_volume(each))
            context.lone_claims = codec::lone_claims_text(
                volumes_of(*cluster, gang.key), cluster->objects().storage().plan(),
                [&](const codec::object_key& pod) {
                    const auto found = known.pod_keys().find(pod);
                    return found != known.pod_keys().end() && known[found->second].charged();
                });
        line.message = reason_text(each, context);
        lines.push_back(std::move(line));
    }
    return lines;
}

std::string live_words::operator()(const live_state& known, muster::gang_index which) const {
    return headline(known, cluster->objects().kinds(), muster::members_of(known, which),
                    known[which].last.at, score, reasons(known, which));
}

std::string live_words::explain(const live_state& known, muster::gang_index which) const {
    const auto& gang = known[which];
    const auto members = muster::members_of(known, which);
    group_line line;
    line.name_space = gang.key.name_space;
    line.name = gang.key.name;
    line.queue = gang.spec.queue;
    line.minimum = fewest_members(gang.spec.tree);
    for (const muster::pod_index pod : gang.members) {
        line.members += known[pod].alive() ? 1 : 0;
        line.holding += known[pod].charged() && !known[pod].nominated ? 1 : 0;
    }
    line.answer = gang.placeable > 0 || gang.nominated > 0
                      ? answer_name(gang.last.known ? gang.last.kind : muster::answer::undecided)
                      : answer_name(muster::answer::admitted);
    if (gang.nominated > 0)
        line.answer = "nominated";
    if (gang.placeable > 0 && gang.last.known && gang.last.at != muster::gate::none) {
        line.gate = gate_name(gang.last.at);
        line.reasons = reasons(known, which);
        line.headline =
            headline(known, cluster->objects().kinds(), members, gang.last.at, score, line.reasons);
    }
    return explanation(line, request{}, true);
}

} // namespace cli
