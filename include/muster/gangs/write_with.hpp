// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/gangs/check_manifest.hpp>
#include <muster/gangs/expressiveness.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/split_namespaces.hpp>
#include <muster/gangs/target.hpp>
#include <muster/gangs/write_options.hpp>
#include <muster/gangs/writer_concept.hpp>
#include <muster/gangs/writing.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace detail {

inline void lose_priority(const gang_priority& priority, const expressiveness& can, writing& out) {
    // Nobody asks for 0: it is what everything has that says nothing.
    const std::int64_t number = priority.number.value_or(0);
    const std::string of_class = "class '" + priority.class_name + "'";
    if (can.priority == priority_word::number) {
        if (!priority.number && !priority.class_name.empty())
            out.lose(loss_kind::priority, of_class + ": only numbers can be said");
    } else if (priority.class_name.empty()) {
        if (number != 0)
            out.lose(loss_kind::priority,
                     "priority " + std::to_string(number) + ": only classes can be said");
    } else if (can.priority == priority_word::pods && out.bundle().pods.empty()) {
        out.lose(loss_kind::priority, of_class + ": only pods can say it, and there are none");
    }
}

/// Only KAI looks at these annotations. Pods of a PodGang may be KAI's.
inline void lose_device_shares(const expressiveness& can, writing& out) {
    if (can.api == gang_api::kai || can.api == gang_api::grove)
        return;
    std::set<std::string> asked;
    for (const gang_pod& pod : out.bundle().pods)
        for (const std::string_view key : keys::kai_device_shares)
            if (const auto share = metadata_entry(pod.document, "annotations", key); !share.empty())
                asked.insert(std::string(key) + " " + std::string(share));
    for (const std::string& each : asked)
        out.lose(loss_kind::device_share, each + " of its pods, which ask for no whole device");
}

/// What the object of a part bears that the gang's does not.
inline void lose_part_metadata(const part_words& own, const std::string& part, writing& out) {
    const auto beyond = [](const boost::json::object& all, const boost::json::object& known) {
        boost::json::object made;
        for (const auto& [key, value] : all)
            if (const auto* const same = known.if_contains(key); !same || *same != value)
                made[key] = value;
        return made;
    };
    out.lose_metadata(beyond(own.labels, out.gang().labels),
                      beyond(own.annotations, out.gang().annotations), part);
    for (const object_reference& owner : own.owners)
        if (!owner.uid.empty() &&
            std::ranges::find(out.gang().owners, owner) == out.gang().owners.end())
            out.lose(loss_kind::metadata, "owner " + owner.kind + " " + owner.name + " of " + part);
}

inline void lose_what_it_cannot(const expressiveness& can, writing& out) {
    const gang_object& gang = out.gang();
    if (gang.queue && !can.queue)
        out.lose(loss_kind::queue, "queue '" + *gang.queue + "'");
    lose_priority(gang.priority, can, out);
    if (gang.preemptible && !can.preemptibility)
        out.lose(loss_kind::preemptibility,
                 *gang.preemptible ? "may be evicted for others" : "may not be evicted for others");
    if (gang.wait_seconds && !can.timeout)
        out.lose(loss_kind::timeout,
                 "members wait for each other for " + std::to_string(*gang.wait_seconds) + " s");
    if (gang.min_resources && !can.min_resources)
        out.lose(loss_kind::min_resources, "resources that must be free at least");
    for (const leaf_size& size : gang.sizes) {
        if (!size.own || can.parts)
            continue;
        const std::string part = out.vertex_text(size.leaf.value());
        lose_part_metadata(*size.own, part, out);
        if (size.own->min_resources)
            out.lose(loss_kind::min_resources, "resources that must be free for " + part);
        if (size.own->wait_seconds != gang.wait_seconds)
            out.lose(loss_kind::timeout, "how long members of " + part + " wait for each other");
        for (const own_word& word : size.own->own_words)
            if (std::ranges::find(gang.own_words, word) == gang.own_words.end())
                out.lose(word.what, word.field + " of " + part);
    }
    for (std::size_t at = 0; at < gang.tree.size(); ++at) {
        if (const std::string level = required_level(gang.tree[at]);
            !level.empty() && !can.topology_required)
            out.lose(loss_kind::topology_required, out.vertex_text(at) + " within one " + level);
        if (const std::string level = preferred_level(gang.tree[at]);
            !level.empty() && !can.topology_preferred)
            out.lose(loss_kind::topology_preferred,
                     out.vertex_text(at) + " rather within one " + level);
    }
    lose_device_shares(can, out);
    for (const own_word& word : gang.own_words)
        if (word.api != can.api)
            out.lose(word.what, word.field);
}

} // namespace detail

/// Writes one gang with its pods: manifests in the order of creation, what was lost, and what the
/// target would refuse. O(pods + vertices²).
template<gang_writer Writer>
[[nodiscard]] written write_with(const Writer& writer, const gang_bundle& bundle,
                                 const write_options& options = {}) {
    const expressiveness can = writer.can();
    if (!can.namespaces && detail::spans_namespaces(bundle)) {
        written made;
        for (const gang_bundle& part : detail::split_by_namespace(bundle, made.losses)) {
            written each = write_with(writer, part, options);
            for (auto& object : each.objects)
                made.objects.push_back(std::move(object));
            for (loss& lost : each.losses)
                made.losses.push_back(std::move(lost));
            for (violation& wrong : each.violations)
                made.violations.push_back(std::move(wrong));
        }
        return made;
    }
    writing out(bundle, can, options);
    detail::lose_what_it_cannot(can, out);
    writer.write(out);
    written made = std::move(out).done();
    for (const boost::json::object& object : made.objects) {
        manifest_check check(object, made.violations);
        check.metadata();
        writer.check(check);
    }
    return made;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
