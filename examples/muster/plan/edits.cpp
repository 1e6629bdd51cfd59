// SPDX-License-Identifier: Apache-2.0
#include "edits.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <muster/apis/ack/labels.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/t9k/reader.hpp>
#include <muster/gangs/names.hpp>
#include <muster/input/broken_objects.hpp>
#include <muster/input/membership.hpp>
#include <muster/input/topology_reader.hpp>
#include <muster/resource/quantity_text.hpp>
#include <muster/vocabulary/node_names.hpp>

#include "storage_edits.hpp"

namespace cli {
namespace {

using namespace muster::codec;

constexpr std::int64_t most_nodes_added = 100'000;

/// By edit::kind.
constexpr std::string_view option_names[] = {"--add-nodes",  "--cordon",      "--uncordon",
                                             "--drain",      "--remove-gang", "--remove-pod",
                                             "--bind-claim", "--set"};

std::optional<std::int64_t> number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::string expected(std::string_view what, std::string_view instead) {
    return in_quotes(what) + " is not understood (expected " + std::string(instead) + ")";
}

/// Returns what is wrong with a label; empty if nothing is.
std::string label_fault(std::string_view key, std::string_view value) {
    if (!muster::translate::is_qualified_name(key))
        return in_quotes(key) +
               " is no key of a label (expected NAME or DOMAIN/NAME, with a name of "
               "at most 63 letters, digits, '-', '_' and '.', e.g. "
               "topology.kubernetes.io/zone)";
    if (!muster::translate::is_label_value(value))
        return in_quotes(value) + " is no value of a label (expected at most 63 letters, digits, "
                                  "'-', '_' and '.', with a letter or digit at both ends)";
    return {};
}

/// Applies one edit; what is wrong is the answer.
class editor {
public:
    editor(const request& asked, manifests& objects, std::vector<std::string>& remarks)
        : asked_(&asked), objects_(&objects), remarks_(&remarks) {}

    std::string apply(const edit& change) {
        const volumes_on_nodes attached = volumes_in_use(*objects_);
        std::string wrong = edit_objects(change);
        detach_unused(attached, *objects_);
        return wrong;
    }

private:
    std::string edit_objects(const edit& change) {
        switch (change.what) {
        case edit::kind::add_nodes:
            return add_nodes(change.value);
        case edit::kind::cordon:
        case edit::kind::uncordon:
        case edit::kind::drain:
            return on_node(change);
        case edit::kind::remove_gang:
            return remove_gang(change.value);
        case edit::kind::remove_pod:
            return remove_pod(change.value);
        case edit::kind::bind_claim:
            return is_object_name(change.value) ? bind_claim(key_of(change.value), *objects_)
                                                : expected(change.value, object_form);
        case edit::kind::set:
            break;
        }
        return set(change.value);
    }

    std::string add_nodes(std::string_view value) {
        const std::size_t comma = std::min(value.find(','), value.size());
        const std::size_t cross = value.find('x');
        const auto count = number(value.substr(0, cross));
        std::vector<std::pair<std::string, std::string>> labels;
        bool read = cross < comma && count && *count >= 1 && *count <= most_nodes_added;
        for (std::size_t at = comma; read && at < value.size();) {
            const std::size_t end = std::min(value.find(',', at + 1), value.size());
            const std::string_view label = value.substr(at + 1, end - at - 1);
            const std::size_t equals = label.find('=');
            read = equals != label.npos && equals > 0;
            if (read)
                labels.emplace_back(label.substr(0, equals), label.substr(equals + 1));
            at = end;
        }
        if (!read)
            return expected(value, "COUNTxNODE or COUNTxNODE,LABEL=VALUE with a count from 1 to "
                                   "100000, e.g. 4xnode-a");
        for (const auto& [key, text] : labels)
            if (std::string fault = label_fault(key, text); !fault.empty())
                return fault;
        const std::string_view of = value.substr(cross + 1, comma - cross - 1);
        const node_object* like = find_node(of);
        if (!like)
            return no_node(of);
        if (is_closed_unread(*like))
            return "node " + in_quotes(of) +
                   " cannot be copied: it, or a pod on it, could not be read (taint " +
                   std::string(muster::unread_taint_key) + "); expected a node without this taint";
        std::set<std::string> names;
        for (const node_object& node : objects_->nodes)
            names.insert(node.metadata.key.name);
        const node_object copied = *like;
        for (std::int64_t made = 0, at = 1; made < *count; ++at) {
            const std::string name = copied.metadata.key.name + "-added-" + std::to_string(at);
            if (!names.insert(name).second)
                continue;
            node_object fresh = copied;
            fresh.metadata.key.name = name;
            fresh.unschedulable = false;
            fresh.metadata.labels =
                muster::labels_of_copy(copied.metadata.key.name, copied.metadata.labels, name);
            for (const auto& [label, text] : labels)
                fresh.metadata.labels.set(label, text);
            std::erase_if(fresh.taints,
                          [](const muster::taint& one) { return one.is_condition(); });
            objects_->nodes.push_back(std::move(fresh));
            copy_storage(copied, name, objects_->storage);
            copy_devices(copied, name, objects_->devices);
            copy_zones(copied, name, objects_->node_topologies);
            ++made;
        }
        return {};
    }

    std::string on_node(const edit& change) {
        node_object* node = find_node(change.value);
        if (!node)
            return no_node(change.value);
        node->unschedulable = change.what != edit::kind::uncordon;
        if (change.what == edit::kind::uncordon)
            std::erase_if(node->taints, [](const muster::taint& one) {
                return one.key == muster::unschedulable_taint_key;
            });
        if (change.what != edit::kind::drain)
            return {};
        // Terminating pods are gone; the controllers of the others create them again.
        std::erase_if(objects_->pods, [&](const pod_object& pod) {
            return pod.node == change.value && pod.metadata.terminating;
        });
        for (pod_object& pod : objects_->pods) {
            if (pod.node != change.value || pod.phase == muster::pod_phase::succeeded ||
                pod.phase == muster::pod_phase::failed)
                continue;
            pod.node.clear();
            pod.nominated_node.clear();
            pod.phase = muster::pod_phase::pending;
            pod.api_phase = "Pending";
            pod.scheduled.reset();
        }
        return {};
    }

    std::string remove_gang(std::string_view value) {
        const auto found = find_group(value);
        if (!found)
            return no_group(value);
        if (found->object)
            std::erase_if(objects_->pod_groups,
                          [&](const pod_group_object& object) { return &object == found->object; });
        if (found->declared)
            std::erase_if(objects_->gangs,
                          [&](const declared_gang& gang) { return &gang == found->declared; });
        std::vector<char> goes(objects_->pods.size(), 0);
        for (const std::size_t at : found->members)
            goes[at] = 1;
        std::size_t at = 0;
        std::erase_if(objects_->pods, [&](const pod_object&) { return goes[at++] != 0; });
        return {};
    }

    std::string remove_pod(std::string_view value) {
        if (!is_object_name(value))
            return expected(value, object_form);
        const object_key key = key_of(value);
        const auto gone = std::erase_if(
            objects_->pods, [&](const pod_object& pod) { return pod.metadata.key == key; });
        return gone > 0 ? std::string{} : "there is no pod " + in_quotes(value);
    }

    std::string set(std::string_view text) {
        const std::size_t equals = text.find('=');
        if (equals == text.npos)
            return expected(text, "WHAT=VALUE, e.g. queue.a.quota.cpu=40");
        const std::string_view what = text.substr(0, equals);
        const std::string_view value = text.substr(equals + 1);
        if (what.starts_with("queue."))
            return set_queue(what.substr(6), value);
        if (what.starts_with("group."))
            return set_group(what.substr(6), value);
        return expected(what, "queue.NAME.FIELD or group.NAME.FIELD");
    }

    std::string set_queue(std::string_view what, std::string_view value) {
        constexpr std::string_view fields =
            "queue.NAME.quota.RESOURCE, deserved.RESOURCE, priority, weight, closed or "
            "preemptible";
        const std::size_t amount = std::min(what.find(".quota."), what.find(".deserved."));
        const std::size_t dot = amount != what.npos ? amount : what.rfind('.');
        if (dot == what.npos)
            return expected(what, fields);
        const std::string_view name = what.substr(0, dot);
        const auto queue = std::ranges::find_if(objects_->queues, [&](const queue_object& each) {
            return each.metadata.key.name == name && each.counts(asked_->queue_namespace);
        });
        if (queue == objects_->queues.end())
            return "there is no queue " + in_quotes(name);
        const std::string_view field = what.substr(dot + 1);
        if (field.starts_with("quota."))
            return set_amount(queue->quota, std::string(field.substr(6)), value);
        if (field.starts_with("deserved."))
            return set_deserved(*queue, std::string(field.substr(9)), value);
        if (field == "priority")
            return set_number(value, 0, 100, queue->priority);
        if (field == "weight")
            return set_number(value, 1, 1'000'000, queue->weight);
        if (field == "closed")
            return set_flag(value, queue->closed);
        if (field == "preemptible")
            return set_flag(value, queue->preemptible);
        return expected(field, fields);
    }

    static std::string set_flag(std::string_view value, bool& to) {
        if (value != "true" && value != "false")
            return expected(value, "true or false");
        to = value == "true";
        return {};
    }

    /// Some node has it, or some pod asks for it.
    [[nodiscard]] bool is_known_kind(const std::string& kind) const {
        return kind == "pods" ||
               std::ranges::any_of(
                   objects_->nodes,
                   [&](const node_object& node) { return node.allocatable.contains(kind); }) ||
               std::ranges::any_of(objects_->pods, [&](const pod_object& pod) {
                   return pod.requests.contains(kind);
               });
    }

    /// Sets the deserved amount. For KAI's queues it is also the quota for non-preemptible gangs.
    std::string set_deserved(queue_object& queue, const std::string& kind, std::string_view value) {
        const bool non_preemptible = queue.non_preemptible_quota.contains(kind);
        if (std::string fault = set_amount(queue.deserved, kind, value); !fault.empty())
            return fault;
        if (const auto set = queue.deserved.find(kind); set == queue.deserved.end())
            queue.non_preemptible_quota.erase(kind);
        else if (non_preemptible)
            queue.non_preemptible_quota[kind] = set->second;
        return {};
    }

    std::string set_amount(std::map<std::string, std::int64_t>& amounts, const std::string& kind,
                           std::string_view value) {
        if (value == "none") {
            amounts.erase(kind);
            return {};
        }
        if (!is_known_kind(kind))
            remarks_->push_back("no node has " + in_quotes(kind) + " and no pod asks for it: a " +
                                "quota of it changes nothing");
        const auto parsed = muster::parse_quantity(value);
        if (!parsed || parsed->sign() < 0)
            return expected(value, "a quantity of at least 0 such as 40, 500m or 2Gi, or none");
        amounts[kind] = capacity_units(kind, parsed.value());
        return {};
    }

    static std::string set_number(std::string_view value, std::int64_t least, std::int64_t most,
                                  std::int64_t& to) {
        const auto read = number(value);
        if (!read || *read < least || *read > most)
            return expected(value, "a number from " + std::to_string(least) + " to " +
                                       std::to_string(most));
        to = *read;
        return {};
    }

    std::string set_group(std::string_view what, std::string_view value) {
        constexpr std::string_view fields =
            "group.NAME.minMember, roles.ROLE.minMember, priority, queue, toleration, "
            "nodeSelector.LABEL, nodeAffinity, podAffinity, podAntiAffinity, topologySpread, "
            "topology or roles.ROLE.topology";
        std::size_t dot = std::min(what.find(".roles."), what.find(".nodeSelector."));
        if (dot == what.npos)
            dot = what.rfind('.');
        if (dot == what.npos)
            return expected(what, fields);
        const std::string_view name = what.substr(0, dot);
        const std::string_view field = what.substr(dot + 1);
        const auto found = find_group(name);
        if (!found)
            return no_group(name);
        if (field == "toleration")
            return tolerate(*found, value);
        if (field == "nodeAffinity" || field == "podAffinity" || field == "podAntiAffinity" ||
            field == "topologySpread" || field == "topology")
            return drop(*found, field, value);
        if (field.starts_with("roles.") && field.ends_with(".topology"))
            return let_apart(*found, field.substr(6, field.size() - 15), value);
        if (field.starts_with("nodeSelector."))
            return select(*found, std::string(field.substr(13)), value);
        if (found->declared)
            return set_declared(const_cast<declared_gang&>(*found->declared), field, value, fields);
        if (!found->object)
            return set_labelled(*found, key_of(name).name, field, value, fields);
        return set_declared(const_cast<pod_group_object&>(*found->object), field, value, fields);
    }

    static std::string set_declared(pod_group_object& object, std::string_view field,
                                    std::string_view value, std::string_view fields) {
        if (field == "minMember")
            return set_number(value, 0, largest_member_count, object.min_member);
        if (field == "priority")
            return set_number(value, 0, 100, object.priority);
        if (field == "queue") {
            object.queue = value;
            return {};
        }
        if (field.starts_with("roles.") && field.ends_with(".minMember")) {
            const std::string_view name = field.substr(6, field.size() - 16);
            const auto role = std::ranges::find(object.roles, name, &role_minimum::name);
            if (role == object.roles.end())
                return "there is no role " + in_quotes(name);
            return set_number(value, 0, largest_member_count, role->min_member);
        }
        return expected(field, fields);
    }

    static std::string set_declared(declared_gang& gang, std::string_view field,
                                    std::string_view value, std::string_view fields) {
        if (field == "priority")
            return set_number(value, std::numeric_limits<std::int32_t>::min(),
                              std::numeric_limits<std::int32_t>::max(), gang.priority);
        if (field == "queue") {
            gang.queue = value;
            return {};
        }
        const bool role = field.starts_with("roles.") && field.ends_with(".minMember");
        if (!role && field != "minMember")
            return expected(field, fields);
        const std::string_view name = role ? field.substr(6, field.size() - 16) : field;
        const std::size_t vertex = role ? vertex_of(gang.tree, name) : 0;
        if (vertex >= gang.tree.size())
            return "there is no role " + in_quotes(name);
        std::int64_t read = 0;
        if (std::string fault = set_number(value, 0, largest_member_count, read); !fault.empty())
            return fault;
        gang.tree.require_members(muster::vertex_index{vertex}, read);
        return {};
    }

    /// Without an object all is said on the pods.
    std::string set_labelled(const group_facts& group, std::string_view name,
                             std::string_view field, std::string_view value,
                             std::string_view fields) {
        for (const std::size_t at : group.members) {
            pod_object& pod = objects_->pods[at];
            std::string fault;
            std::int64_t read = 0;
            if (field == "priority") {
                fault = set_number(value, std::numeric_limits<std::int32_t>::min(),
                                   std::numeric_limits<std::int32_t>::max(), read);
                pod.priority = read;
            } else if (field == "queue") {
                pod.metadata.labels.set(std::string(muster::translate::keys::t9k_queue),
                                        std::string(value));
            } else if (field == "minMember" && pod.metadata.labels.find(ack_minimum_label)) {
                fault = set_number(value, 1, largest_member_count, read);
                pod.metadata.labels.set(std::string(ack_minimum_label), std::to_string(read));
            } else if (field.ends_with("minMember")) {
                return pod.metadata.key.name == name
                           ? "the pod " + in_quotes(name) +
                                 " belongs to no group, so it has no minimum (expected a group)"
                           : "no object defines the group " + in_quotes(name) +
                                 ", and its pods have no label " + std::string(ack_minimum_label) +
                                 ", so its minimum cannot be set (expected a group with either)";
            } else {
                return expected(field, fields);
            }
            if (!fault.empty())
                return fault;
        }
        return {};
    }

    std::string tolerate(const group_facts& group, std::string_view value) {
        const std::size_t colon = value.rfind(':');
        const std::string_view effect =
            colon == value.npos ? std::string_view{} : value.substr(colon + 1);
        if (effect != "NoSchedule" && effect != "NoExecute")
            return expected(value, "KEY=VALUE:EFFECT or KEY:EFFECT of a taint, with the effect "
                                   "NoSchedule or NoExecute");
        const std::string_view taint = value.substr(0, colon);
        const std::size_t equals = taint.find('=');
        muster::toleration made;
        made.key = std::string(taint.substr(0, equals));
        made.value = equals == taint.npos ? "" : std::string(taint.substr(equals + 1));
        made.effect = effect == "NoSchedule" ? muster::taint_effect::no_schedule
                                             : muster::taint_effect::no_execute;
        for (const std::size_t at : group.members)
            objects_->pods[at].where.tolerations.push_back(made);
        return {};
    }

    /// Of the role or subgroup of that name; the tree's size when there is none.
    [[nodiscard]] static std::size_t vertex_of(const muster::gang_tree& tree,
                                               std::string_view name) {
        std::size_t vertex = 1;
        while (vertex < tree.size() && tree[vertex].name != name)
            ++vertex;
        return vertex;
    }

    static std::string let_apart(const group_facts& group, std::string_view role,
                                 std::string_view value) {
        if (!value.empty())
            return expected(value, "nothing: what is required of it is dropped");
        const std::size_t vertex = vertex_of(group.tree, role);
        if (!group.declared || vertex >= group.tree.size())
            return "there is no role " + in_quotes(role) + " with a topology of its own";
        const_cast<declared_gang&>(*group.declared).tree.let_apart(muster::vertex_index{vertex});
        return {};
    }

    std::string drop(const group_facts& group, std::string_view field, std::string_view value) {
        if (!value.empty())
            return expected(value, "nothing: what is required of it is dropped");
        const std::string required(topology_required_annotation);
        if (field == "topology" && group.object)
            const_cast<pod_group_object&>(*group.object).metadata.annotations.erase(required);
        if (field == "topology" && group.declared)
            const_cast<declared_gang&>(*group.declared).tree.let_apart(muster::vertex_index{0});
        for (const std::size_t at : group.members) {
            pod_object& pod = objects_->pods[at];
            if (field == "topology")
                pod.metadata.annotations.erase(required);
            if (field == "nodeAffinity")
                pod.where.affinity.reset();
            if (!pod.where.pods)
                continue;
            if (field == "podAffinity")
                pod.where.pods->affinity.clear();
            if (field == "podAntiAffinity")
                pod.where.pods->anti_affinity.clear();
            if (field == "topologySpread")
                std::erase_if(pod.where.pods->spread,
                              [](const muster::spread_term& one) { return one.required; });
            if (!pod.where.pods->any())
                pod.where.pods.reset();
        }
        return {};
    }

    std::string select(const group_facts& group, const std::string& label, std::string_view value) {
        if (std::string fault = label_fault(label, value); !fault.empty())
            return fault;
        for (const std::size_t at : group.members) {
            auto& required = objects_->pods[at].where.selector.requirements;
            std::erase_if(required, [&](const auto& each) { return each.key == label; });
            if (!value.empty())
                required.push_back({label, muster::label_operator::in, {std::string(value)}});
        }
        return {};
    }

    [[nodiscard]] node_object* find_node(std::string_view name) const {
        const auto found = std::ranges::find_if(objects_->nodes, [&](const node_object& node) {
            return node.metadata.key.name == name;
        });
        return found == objects_->nodes.end() ? nullptr : &*found;
    }

    static constexpr std::string_view object_form = "NAME or NAMESPACE/NAME, e.g. default/data-0";

    [[nodiscard]] static bool is_object_name(std::string_view value) {
        const std::size_t slash = value.find('/');
        return !value.empty() && slash != 0 && value.back() != '/' &&
               (slash == value.npos || value.find('/', slash + 1) == value.npos);
    }

    [[nodiscard]] object_key key_of(std::string_view value) const {
        const std::size_t slash = value.find('/');
        if (slash == value.npos)
            return {asked_->default_namespace, std::string(value)};
        return {std::string(value.substr(0, slash)), std::string(value.substr(slash + 1))};
    }

    /// A declared group before a labelled one before a pod of that name.
    [[nodiscard]] std::optional<group_facts> find_group(std::string_view value) const {
        const object_key key = key_of(value);
        const object_lookup lookup(*objects_);
        std::vector<const group_map::value_type*> group_of;
        diagnostics ignored;
        const group_map groups = find_groups(*objects_, lookup, group_of, ignored);
        const auto found = groups.lower_bound({key.name_space, key.name, group_origin::pod_group});
        if (found == groups.end() || found->first.name_space != key.name_space ||
            found->first.name != key.name)
            return std::nullopt;
        return found->second;
    }

    [[nodiscard]] static std::string no_node(std::string_view name) {
        return "there is no node " + in_quotes(name);
    }
    [[nodiscard]] static std::string no_group(std::string_view name) {
        return "there is no group " + in_quotes(name) + " (expected NAME or NAMESPACE/NAME)";
    }

    const request* asked_;
    manifests* objects_;
    std::vector<std::string>* remarks_;
};

} // namespace

std::string option_text(const edit& change) {
    return std::string(option_names[static_cast<std::size_t>(change.what)]) + " " + change.value;
}

std::optional<edit> edit_of(const std::string& option) {
    const std::string_view name = std::string_view(option).substr(0, option.find(' '));
    const auto* const found = std::ranges::find(option_names, name);
    if (found == std::ranges::end(option_names) || name.size() == option.size())
        return std::nullopt;
    return edit{static_cast<edit::kind>(found - std::ranges::begin(option_names)),
                option.substr(name.size() + 1)};
}

std::string apply_edits(const std::vector<edit>& edits, const request& asked, manifests& objects,
                        std::vector<std::string>& remarks) {
    editor apply(asked, objects, remarks);
    for (const edit& each : edits)
        if (std::string fault = apply.apply(each); !fault.empty())
            return option_text(each) + ": " + fault;
    return {};
}

} // namespace cli
