// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/apis/koordinator/gang_group.hpp>
#include <muster/gangs/check_manifest.hpp>
#include <muster/gangs/expressiveness.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

enum class ack_version : std::uint8_t { v1_30, v1_31 };

/// ACK: labels on pods; for a gang whose pods somebody else makes, the PodGroup that its version
/// knows. Roles become gangs of a gang group where one gang would lose their minima.
struct ack_writer {
    ack_version version = ack_version::v1_31;

    [[nodiscard]] static constexpr expressiveness can() {
        return {.api = gang_api::coscheduling, .namespaces = true};
    }

    void write(writing& out) const {
        const gang_minima& minima = out.minima();
        const bool grouped =
            out.spans_namespaces() ||
            (out.options().ack_gang_groups && !minima.roles_follow && !minima.some_optional);
        std::vector<gang_of_group> gangs = grouped ? gang_group_of(out) : one_gang_of(out);
        if (grouped) {
            out.lose_all_above_roles();
            std::erase_if(gangs, [&](const gang_of_group& each) {
                if (each.minimum > 0)
                    return false;
                out.lose(loss_kind::all_or_nothing,
                         "members of " + out.vertex_text(each.role->leaf) +
                             " are in no gang and do not wait for other pods");
                return true;
            });
        } else {
            out.lose_all_but_total();
        }
        const std::string matching = matching_of(out);
        if (out.bundle().pods.empty())
            write_groups(gangs, matching, out);
        else {
            out.lose_metadata(out.gang().labels, out.gang().annotations, "the gang's object");
            write_pods(gangs, matching, out);
        }
    }

    void check(manifest_check& manifest) const {
        if (manifest.is(group_api(), "PodGroup")) {
            manifest.expect_object_name(labelled_object);
            manifest.expect_int32("spec.minMember", manifest.at({"spec", "minMember"}), 1);
        }
        if (!manifest.is_pod())
            return;
        if (const auto* name = manifest.at({"metadata", "labels", keys::sigs_name}))
            manifest.expect_name("metadata.labels[" + std::string(keys::sigs_name) + "]",
                                 name->as_string(), labelled_object);
    }

private:
    [[nodiscard]] std::string_view group_api() const {
        return version == ack_version::v1_30 ? sigs_group_version : plugins_group_version;
    }

    [[nodiscard]] static std::string matching_of(writing& out) {
        std::string found;
        for (const own_word& word : out.gang().own_words)
            if (out.knows(word)) {
                if (word.field == keys::koord_matching && word.value.is_string())
                    found = word.value.get_string();
                else
                    out.lose(word.what, word.field);
            }
        return found;
    }

    [[nodiscard]] static std::string list_of(const std::vector<gang_of_group>& gangs) {
        return gangs.size() > 1 ? group_list(gangs) : std::string();
    }
    static void mark(boost::json::object& document, const std::string& group,
                     const std::string& matching) {
        // As a label, where ACK documents it, a list would be illegal.
        if (!group.empty())
            set_annotation(document, keys::koord_groups, group);
        if (!matching.empty())
            set_label(document, keys::sigs_matching, matching);
    }

    void write_groups(const std::vector<gang_of_group>& gangs, const std::string& matching,
                      writing& out) const {
        const std::string list = list_of(gangs);
        for (const gang_of_group& each : gangs) {
            boost::json::object group = out.manifest(group_api(), "PodGroup", each.name);
            child_at(group, "metadata")["namespace"] = each.name_space;
            child_at(group, "spec")["minMember"] = each.minimum;
            mark(group, list, matching);
            out.add(std::move(group));
        }
    }

    static void write_pods(const std::vector<gang_of_group>& gangs, const std::string& matching,
                           writing& out) {
        const std::string list = list_of(gangs);
        const auto by_leaf = gangs_by_leaf(gangs, out.gang().tree);
        boost::json::value first_class;
        for (gang_pod& pod : out.pods({})) {
            const boost::json::object& spec = child_at(pod.document, "spec");
            const auto* named = spec.if_contains("priorityClassName");
            const boost::json::value own_class = named ? *named : boost::json::value("");
            if (first_class.is_null())
                first_class = own_class;
            else if (own_class != first_class)
                out.refuse(out.gang().kind, "spec.priorityClassName",
                           "pods of several priorities (expected the same for all pods of a gang)");
            if (const gang_of_group* gang = by_leaf[pod.leaf.value()]) {
                set_label(pod.document, keys::sigs_name, gang->name);
                set_label(pod.document, keys::sigs_minimum, std::to_string(gang->minimum));
                mark(pod.document, list, matching);
            }
            out.add(std::move(pod.document));
        }
    }
};

} // namespace translate
} // namespace v0_1
} // namespace muster
