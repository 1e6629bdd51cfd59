// SPDX-License-Identifier: Apache-2.0
#include "live_words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/volume_words.hpp>
#include <muster/problem/members.hpp>
#include <muster/words/headline.hpp>

#include "../plan/reason_lines.hpp"
#include "../plan/report.hpp"

namespace cli {

namespace {

namespace codec = muster::codec;

/// The scheduler waits for it: it is given up earlier than `muster explain` gives up.
constexpr std::int64_t max_steps = std::int64_t{1} << 14;

/// Returns the volume effects of the gang's waiting members, or of `only` one of them.
codec::volumes_of_pods volumes_of(const live_cluster& cluster, const codec::group_key& key,
                                  const codec::object_key* only) {
    codec::volumes_of_pods found;
    for (const codec::pod_object* const pod : cluster.objects().gangs().members(key))
        if (const auto* const volumes = cluster.objects().storage().plan().find(pod->metadata.key);
            volumes && pod->node.empty() && (!only || pod->metadata.key == *only))
            found.emplace_back(pod->metadata.key.name, volumes);
    return found;
}

/// What exactly is wrong with a group's object, or not modelled of its members.
std::string detail_of(const live_cluster& cluster, const codec::group_key& key,
                      muster::reason_code why, const codec::object_key* only) {
    const auto& gangs = cluster.objects().gangs();
    if (std::string wrong = gangs.wrong_with(key);
        !wrong.empty() || why == muster::reason_code::group_missing)
        return wrong;
    if (why == muster::reason_code::unsupported_constraint) {
        for (const codec::pod_object* const pod : gangs.members(key)) {
            std::vector<std::string> all = codec::unmodelled_of(
                *pod, cluster.objects().storage().plan().find(pod->metadata.key));
            for (const auto& [kind, amount] : pod->requests)
                if (!cluster.objects().kinds().find(kind))
                    all.push_back(too_many_kinds(kind));
            if (all.empty() || (only && pod->metadata.key != *only))
                continue;
            std::string out = "pod " + pod->metadata.key.name + ": ";
            for (std::size_t at = 0; at < all.size(); ++at)
                out += (at > 0 ? ", " : "") + all[at];
            return out;
        }
        return "a member's constraints";
    }
    if (why == muster::reason_code::volume_not_ready)
        return codec::waiting_volumes_text(volumes_of(cluster, key, only));
    const std::string name = " " + key.name_space + "/" + key.name;
    for (const auto& [object, wrong] : cluster.objects().broken())
        if (object.ends_with(name) && !wrong.empty())
            return wrong.front();
    return why == muster::reason_code::members_disagree ? "its members disagree about their group"
                                                        : "its group is malformed";
}

} // namespace

std::string live_facts::detail(muster::reason_code why) const {
    return detail_of(*cluster, key, why, only);
}

std::set<std::string> live_facts::gates() const {
    std::set<std::string> found;
    for (const codec::pod_object* const pod : cluster->objects().gangs().members(key))
        found.insert(pod->gates.begin(), pod->gates.end());
    return found;
}

codec::volumes_of_pods live_facts::volumes() const {
    return volumes_of(*cluster, key, only);
}

const codec::volume_plan& live_facts::volume_plan() const {
    return cluster->objects().storage().plan();
}

std::string live_words::operator()(const live_state& known, muster::gang_index which) const {
    const auto& gang = known[which];
    const muster::kind_table& kinds = cluster->objects().kinds();
    muster::explain_options options = explain_options_of(*cluster, gang.last.kind);
    options.steps = max_steps;
    if (gang.last.at == muster::gate::none)
        return surplus_text(surplus_lines(known, which, options, [&](const codec::object_key& pod) {
            return live_facts{cluster, known.key(which), queue_name(known, gang.queue), &pod};
        }));
    const auto reasons =
        reason_lines(known, kinds, which, *options.scope, muster::explain(known, which, options),
                     live_facts{cluster, known.key(which), queue_name(known, gang.queue), nullptr});
    return muster::words::headline(known, kinds, muster::members_of(known, which), gang.last.at,
                                   how->score_of<live_width>(), reasons);
}

muster::explain_options explain_options_of(const live_cluster& cluster, muster::answer last) {
    muster::explain_options options;
    options.kinds = &cluster.objects().kinds();
    options.scope = scope_of(last);
    return options;
}

} // namespace cli
