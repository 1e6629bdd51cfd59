// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/adapter/virtual_time.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_reader.hpp>
#include <muster/apis/grove/gangs.hpp>
#include <muster/apis/grove/names.hpp>
#include <muster/apis/grove/pods.hpp>
#include <muster/apis/grove/set.hpp>
#include <muster/apis/grove/set_reader.hpp>
#include <muster/base/assert.hpp>
#include <muster/base/timestamp.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/target.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/lifecycle/grove_controller.hpp>
#include <muster/sim/declared_attempts.hpp>
#include <muster/sim/grove_entry.hpp>
#include <muster/sim/grove_kubelet.hpp>
#include <muster/sim/grove_order.hpp>
#include <muster/sim/grove_words.hpp>
#include <muster/sim/object_store.hpp>
#include <muster/sim/read_sets.hpp>
#include <muster/sim/run_record.hpp>
#include <muster/sim/run_script.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/pod.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// Grove's PodCliqueSets in a run: their controller, one pass at a time, the objects that it
/// writes, and the kubelets of their pods. What happens goes to `lines`, what others are to do to
/// `orders`, both in their order.
class grove_play {
public:
    using timestamp = codec::timestamp;
    using object_key = codec::object_key;

    grove_play(std::vector<set_input> inputs, codec::diagnostics& out) {
        std::ranges::sort(inputs, {}, [](const set_input& each) { return key_of(each.document); });
        for (set_input& each : inputs)
            sets_.emplace_back(std::move(each), out).foresee(foreseen_, out);
    }
    grove_play(const grove_play&) = delete;
    grove_play& operator=(const grove_play&) = delete;

    std::vector<run_line> lines;
    std::vector<grove_order> orders;

    /// A pod of each clique, as it will be.
    [[nodiscard]] const std::vector<codec::pod_object>& foreseen() const noexcept {
        return foreseen_;
    }
    /// The earliest creation.
    [[nodiscard]] std::optional<timestamp> first() const {
        std::optional<timestamp> made;
        for (const entry& each : sets_)
            if (each.input.created && (!made || *each.input.created < *made))
                made = each.input.created;
        return made;
    }
    /// Whether an event is about a set or one of what it scales; what is wrong with it is reported.
    bool check(const script_event& event, codec::diagnostics& out) const {
        for (const entry& set : sets_) {
            if (event.what == script_action::scale)
                if (const auto scale = set.part_scale(event.whom)) {
                    if (event.value < scale->least || event.value > scale->most)
                        out.error(event.where, "there would be " + std::to_string(event.value) +
                                                   " replicas (expected " +
                                                   std::to_string(scale->least) + " to " +
                                                   std::to_string(scale->most) + ")");
                    return true;
                }
            if (set.key != event.whom)
                continue;
            if (event.what == script_action::pause || event.what == script_action::resume)
                out.error(event.where, "a PodCliqueSet has no pause (expected a T9k job)");
            if (event.what == script_action::set_image && !event.part.empty() &&
                std::ranges::find(set.read.cliques, event.part, &translate::grove_clique::name) ==
                    set.read.cliques.end())
                out.error(event.where, codec::in_quotes(event.part) +
                                           " is no clique (expected one of its template.cliques)");
            return true;
        }
        return false;
    }

    void begin(timestamp now) {
        now_ = now;
        for (std::size_t at = 0; at < sets_.size(); ++at) {
            entry& set = sets_[at];
            const timestamp comes = std::max(now, set.input.created.value_or(now));
            if (!set.input.created || !set.input.document.contains("status"))
                set.input.created = comes;
            due_.plan(comes, {happening::arrival, at});
        }
    }
    [[nodiscard]] std::optional<timestamp> next() const {
        const auto mine = due_.next();
        const auto ends = kubelet_.next();
        return !mine ? ends : !ends ? mine : std::min(mine, ends);
    }

    /// What is due by then.
    void happen(timestamp now) {
        now_ = now;
        while (const auto due = due_.take(now))
            if (due->what == happening::pass)
                dirty_.insert(due->which);
            else
                arrive(due->which);
        while (const auto key = kubelet_.take_due(now))
            if (kubelet_.waits(*key))
                start_again(*key);
            else
                end_pod(*key, declared(*key).exit_code(kubelet_.at(*key).attempt - 1));
    }

    /// One pass over a set to which something happened; false when there is none.
    bool look() {
        if (dirty_.empty())
            return false;
        const std::size_t which = *dirty_.begin();
        dirty_.erase(dirty_.begin());
        entry& set = sets_[which];
        if (set.deleted || !set.arrived)
            return true;
        const boost::json::object& stored = *store_.find("PodCliqueSet", set.key);
        set.read.status = translate::find_object(&stored, "status");
        const lifecycle::grove_step step =
            lifecycle::reconcile(set.read, store_.all(), now_, pod_gang_backend{set.read.scheduler},
                                 set.options, set.within());
        for (const lifecycle::grove_write& each : step.writes)
            write(which, each);
        if (!step.is_quiet())
            dirty_.insert(which);
        if (step.wake && *step.wake > now_)
            due_.plan(*step.wake, {happening::pass, which});
        return true;
    }

    [[nodiscard]] bool owns(const object_key& pod) const { return kubelet_.has(pod); }
    [[nodiscard]] bool runs(const object_key& pod) const {
        return kubelet_.has(pod) && kubelet_.at(pod).ready;
    }
    /// Pods that nobody may schedule yet.
    [[nodiscard]] std::size_t gated() const {
        return static_cast<std::size_t>(std::ranges::count_if(
            kubelet_.pods(), [](const auto& each) { return !each.second.added; }));
    }

    /// Somebody has a node for the pod.
    void place(const object_key& key, const std::string& node, timestamp now) {
        now_ = now;
        translate::child_at(*store_.find("Pod", key), "spec")["nodeName"] = node;
        kubelet_.place(key);
        if (const auto waits = kubelet_.awaited(key); waits.empty())
            tell("Pod", key, "Running", "on " + node);
        else
            tell("Pod", key, "Bound", "to " + node + ", starts after " + waits);
        dirty_.insert(kubelet_.at(key).set);
        start_pods();
    }
    /// The pod's process ends.
    void end(const object_key& key, std::int64_t code, timestamp now) {
        now_ = now;
        end_pod(key, code);
    }
    /// Its node is out of sight, or back.
    void see(const object_key& key, bool lost, timestamp now) {
        now_ = now;
        tell("Pod", key, lost ? "Unknown" : "Running");
        kubelet_.see(key, lost, now);
        show(key);
        start_pods();
    }
    /// Somebody takes the pod away.
    void remove(const object_key& key, std::string_view what, std::string details, timestamp now) {
        now_ = now;
        take("Pod", key, what, std::move(details));
    }

    /// Whether an event was for a set or a part of one.
    bool act(const script_event& event, timestamp now) {
        now_ = now;
        for (std::size_t which = 0; which < sets_.size(); ++which) {
            entry& set = sets_[which];
            if (event.what == script_action::scale && set.part_scale(event.whom)) {
                scale_part(set, which, event);
                return true;
            }
            if (set.key != event.whom)
                continue;
            if (set.deleted || !set.arrived) {
                tell("PodCliqueSet", set.key, "Ignored",
                     set.deleted ? "it is deleted" : "it does not exist yet");
            } else if (event.what == script_action::delete_job) {
                set.deleted = true;
                take("PodCliqueSet", set.key, "Deleted", {});
            } else {
                edit(set, event);
                dirty_.insert(which);
            }
            return true;
        }
        return false;
    }

    [[nodiscard]] std::vector<run_set> finish() const {
        std::vector<run_set> made;
        for (const entry& set : sets_)
            made.push_back({set.key, set.deleted, set.last, set.input.created, set.began});
        return made;
    }

private:
    using entry = set_entry;
    struct happening {
        enum kind : std::uint8_t { arrival, pass };
        kind what = pass;
        std::size_t which = 0;
    };

    void tell(std::string_view kind, const object_key& whom, std::string_view what,
              std::string details = {}) {
        lines.push_back({now_, std::string(kind), whom, std::string(what), std::move(details), {}});
    }

    void arrive(std::size_t which) {
        entry& set = sets_[which];
        set.arrived = true;
        const bool known = set.input.document.contains("status");
        store_.create(set.input.document, *set.input.created);
        tell("PodCliqueSet", set.key, known ? "Found" : "Created");
        dirty_.insert(which);
    }

    // ---- what the controller writes -------------------------------------------------------------

    void write(std::size_t which, const lifecycle::grove_write& each) {
        using verb = lifecycle::grove_write::verb;
        const std::string kind(translate::string_at(each.object, "kind"));
        const object_key key = key_of(each.object);
        switch (each.what) {
        case verb::status:
            return write_status(which, kind, key, each.object);
        case verb::remove:
            return take(kind, key, "Deleted", {});
        case verb::create:
            return create(which, kind, key, each.object);
        case verb::replace:
            if (!store_.find(kind, key))
                return;
            store_.replace(each.object);
            if (kind == "Pod")
                return add_pod(key);
            return tell(kind, key, "Updated", references_text(each.object));
        }
    }

    static std::string references_text(const boost::json::object& object) {
        const auto* groups =
            translate::find_array(translate::find_object(&object, "spec"), "podgroups");
        std::size_t pods = 0;
        if (!groups)
            return {};
        for (const boost::json::value& each : *groups)
            if (const auto* list = translate::find_array(each.if_object(), "podReferences"))
                pods += list->size();
        return "refers to " + std::to_string(pods) + (pods == 1 ? " pod" : " pods");
    }

    void write_status(std::size_t which, const std::string& kind, const object_key& key,
                      const boost::json::object& object) {
        boost::json::object* const stored = store_.find(kind, key);
        if (!stored)
            return;
        const boost::json::object& status = object.at("status").get_object();
        tell(kind, key, "Status", status_changes(translate::find_object(stored, "status"), status));
        lines.back().document = status;
        (*stored)["status"] = status;
        if (kind != "PodCliqueSet")
            return;
        entry& set = sets_[which];
        set.last = status;
        if (!set.began && detail::count_in(&status, "availableReplicas") > 0)
            set.began = now_;
    }

    void create(std::size_t which, const std::string& kind, const object_key& key,
                const boost::json::object& object) {
        const boost::json::object& made = store_.create(object, now_);
        if (kind == "Pod") {
            translate::child_at(*store_.find(kind, key), "status")["phase"] = "Pending";
            kubelet_.add(key, which, made);
        }
        tell(kind, key, "Created");
        if (kind != "PodGang")
            return;
        entry& set = sets_[which];
        grove_order order{grove_order::verb::add_gang, key};
        if (const auto gang = set.find_gang(key.name)) {
            order.tree = translate::grove_tree(set.read, *gang, set.within());
            for (const translate::grove_member& each : gang->members)
                cliques_[{key.name_space, each.name}] = each.clique;
        }
        order.queue = set.read.queue;
        order.priority_class = set.read.priority_class;
        for (std::size_t at = 0; at < order.tree.size(); ++at)
            leaves_[key][order.tree[at].name] = vertex_index{at};
        orders.push_back(std::move(order));
    }

    /// Its gate is open; others may still be closed.
    void add_pod(const object_key& key) {
        const boost::json::object& document = *store_.find("Pod", key);
        const auto* gates =
            translate::find_array(translate::find_object(&document, "spec"), "schedulingGates");
        tell("Pod", key, "Ungated");
        if ((gates && !gates->empty()) || kubelet_.at(key).added)
            return;
        kubelet_.at(key).added = true;
        const auto label = [&](std::string_view name) {
            return std::string(translate::metadata_entry(document, "labels", name));
        };
        grove_order order{grove_order::verb::add_pod, key};
        order.gang = label(translate::grove::gang_label);
        order.leaf =
            leaves_.at({key.name_space, order.gang}).at(label(translate::grove::clique_label));
        codec::diagnostics aside; // its like was looked at before
        order.pod = set_entry::as_pod(document, aside);
        orders.push_back(std::move(order));
    }

    /// Takes an object away with all that it owns.
    void take(std::string_view kind, const object_key& key, std::string_view what,
              std::string details) {
        for (const boost::json::object& gone : store_.remove(kind, key)) {
            const std::string_view gone_kind = translate::string_at(gone, "kind");
            const object_key whom = key_of(gone);
            tell(gone_kind, whom, what, details);
            what = "Deleted";
            details.clear();
            if (gone_kind == "Pod") {
                if (!sets_[kubelet_.at(whom).set].deleted)
                    dirty_.insert(kubelet_.at(whom).set);
                if (kubelet_.at(whom).added)
                    orders.push_back({grove_order::verb::remove_pod, whom});
                kubelet_.forget(whom);
            } else if (gone_kind == "PodGang") {
                gone_gangs_.push_back(whom);
            }
        }
        // Gangs go after their pods.
        std::erase_if(gone_gangs_, [&](const object_key& gang) {
            const bool empty = std::ranges::none_of(kubelet_.pods(), [&](const auto& each) {
                return each.first.name_space == gang.name_space && each.second.gang == gang.name;
            });
            if (empty)
                orders.push_back({grove_order::verb::remove_gang, gang});
            return empty;
        });
    }

    // ---- kubelets -------------------------------------------------------------------------------

    [[nodiscard]] const declared_attempts& declared(const object_key& key) const {
        const grove_kubelet::pod& pod = kubelet_.at(key);
        return sets_[pod.set].attempts[cliques_.at({key.name_space, pod.clique})];
    }

    /// Pods that have nobody left to wait for start, which may be what others wait for.
    void start_pods() {
        while (const auto key = kubelet_.next_to_start()) {
            start(*key);
            if (kubelet_.at(*key).waited)
                tell("Pod", *key, "Running");
        }
    }
    void start(const object_key& key) {
        kubelet_.start(key, now_, declared(key).run_time(kubelet_.next_attempt(key)));
        show(key);
    }
    void start_again(const object_key& key) {
        tell("Pod", key, "Restarted");
        start(key);
        start_pods();
    }

    void end_pod(const object_key& key, std::int64_t code) {
        const bool well = code == 0;
        const std::string words = well ? "" : "exit code " + std::to_string(code);
        if (kubelet_.ends_for_good(key, well)) {
            tell("Pod", key, well ? "Succeeded" : "Failed", words);
            grove_order order{grove_order::verb::end_pod, key};
            order.phase = well ? pod_phase::succeeded : pod_phase::failed;
            orders.push_back(std::move(order));
            kubelet_.finish(key, code);
            return show(key);
        }
        const std::int64_t delay = kubelet_.crash(key, code, now_);
        tell("Pod", key, "Exited",
             (well ? "" : words + ", ") + "starts again in " +
                 std::to_string(delay / 1'000'000'000) + "s");
        show(key);
    }

    /// The pod's status as its kubelet has it.
    void show(const object_key& key) {
        (*store_.find("Pod", key))["status"] = kubelet_.status(key);
        dirty_.insert(kubelet_.at(key).set);
    }

    // ---- what somebody edits --------------------------------------------------------------------

    void edit(entry& set, const script_event& event) {
        if (event.what == script_action::scale) {
            set.scale(event.value);
            tell("PodCliqueSet", set.key, "Scale",
                 "to " + std::to_string(event.value) + " replicas");
        } else {
            set.set_image(event.part, event.text);
            tell("PodCliqueSet", set.key, "Update",
                 "image " + event.text + (event.part.empty() ? "" : " of " + event.part));
        }
        store_.replace(set.input.document);
    }

    void scale_part(const entry& set, std::size_t which, const script_event& event) {
        for (const std::string_view kind : {"PodCliqueScalingGroup", "PodClique"})
            if (boost::json::object* const part = store_.find(kind, event.whom)) {
                translate::child_at(*part, "spec")["replicas"] = event.value;
                tell(kind, event.whom, "Scale", "to " + std::to_string(event.value) + " replicas");
                dirty_.insert(which);
                return;
            }
        tell("PodCliqueSet", set.key, "Ignored", event.whom.name + " does not exist");
    }

    std::deque<entry> sets_; ///< by namespace and name
    std::vector<codec::pod_object> foreseen_;
    object_store store_;
    grove_kubelet kubelet_;
    adapter::virtual_time<happening> due_;
    std::set<std::size_t> dirty_;
    /// The leaves of a gang by the names of its PodCliques.
    std::map<object_key, std::map<std::string, vertex_index, std::less<>>> leaves_;
    /// Which of its set's cliques a PodClique is.
    std::map<object_key, std::size_t> cliques_;
    std::vector<object_key> gone_gangs_;
    timestamp now_ = 0;
};

} // namespace sim
} // namespace v0_1
} // namespace muster
