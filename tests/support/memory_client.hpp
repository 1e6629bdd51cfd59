// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/adapter/cluster_concept.hpp>
#include <support/memory_api.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// How a client of a `memory_api` takes part in elections.
struct election_options {
    bool elects = false;
    std::int64_t lease = 15 * second;
    std::int64_t renewal = 10 * second;
    std::int64_t retry = 2 * second;
};

/// A cluster: one scheduler's connection to an API server in memory. It lists and watches every
/// kind, with configurable delays, gaps and outages, and takes part in elections.
template<std::size_t Width>
class memory_client {
public:
    using traits = string_traits<Width>;
    using api_type = memory_api<Width>;

    /// `name` must be unique among all clients that ever connect to the server; `identity` is the
    /// client's identity in elections.
    memory_client(api_type& api, std::string name, std::string identity = {},
                  election_options elections = {})
        : api_(&api),
          name_(std::move(name)),
          identity_(identity.empty() ? name_ : std::move(identity)),
          elections_(elections) {
        if (!elections_.elects)
            term_ = 1;
    }

    // ---- what is wrong with it -----------------------------------------------------------------

    /// Nothing reaches the server, and nothing comes from it.
    bool cut_off = false;
    /// Changes of that kind arrive so much later, unnoticed.
    std::array<std::int64_t, object_kinds> delay{};
    /// Lists are answered from how things stood so many changes ago.
    std::size_t lag = 0;
    /// If several changes to one object arrive together, reports only the last one.
    bool skips = false;
    /// A watch that says nothing for so long is not trusted.
    std::int64_t silence = 30 * second;

    /// Gives the lease up: to be called when nothing is under way.
    void resign() {
        if (leads_ && api_->lease.holder == identity_)
            api_->lease.holder.clear();
        leads_ = false;
    }
    [[nodiscard]] bool leads() const noexcept { return leads_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// When something is going to happen of itself.
    [[nodiscard]] std::int64_t next() const {
        std::int64_t when = elections_.elects ? next_try_ : never_comes;
        if (!cut_off)
            when = std::min(when, compare_at_.value_or(never_comes));
        for (std::size_t kind = 0; kind < object_kinds; ++kind) {
            const stream& of = streams_[kind];
            if (cut_off)
                continue;
            if (of.at == stage::listing)
                when = std::min(when, of.answer);
            else if (of.at == stage::open)
                when = std::min(when, next_change(kind));
            else if (may_list(kind))
                when = std::min(when, api_->now());
        }
        return when;
    }

    // ---- the cluster ---------------------------------------------------------------------------

    [[nodiscard]] instant now() const noexcept { return {api_->now(), api_->wall()}; }
    [[nodiscard]] bool may_write() const noexcept {
        return !elections_.elects || (leads_ && api_->now() < renewed_ + elections_.renewal);
    }

    view_status observe(cluster_view<traits>& view) {
        elect();
        view_status status;
        status.as_of = api_->now();
        status.term = term_;
        // Pods come last.
        for (const object_kind kind :
             {object_kind::node, object_kind::queue, object_kind::gang, object_kind::pod})
            follow(kind, view, status);
        status.synced = term_ > 0 && std::ranges::all_of(
                                         streams_, [](const stream& each) { return each.listed; });
        return status;
    }

    void prepare(std::span<const prepare_order<traits>> all) { send_all(all, true); }
    void ungate(std::span<const ungate_order<traits>> all) { send_all(all, true); }
    void bind(std::span<const bind_order<traits>> all) { send_all(all, true); }
    void evict(std::span<const evict_order<traits>> all) { send_all(all, true); }
    void patch_status(std::span<const status_order<traits>> all) { send_all(all, true); }
    void record_event(std::span<const event_order<traits>> all) { send_all(all, true); }
    void where_is(std::span<const where_is_order<traits>> all) { send_all(all, false); }
    void is_current(std::span<const is_current_order<traits>> all) { send_all(all, false); }

    [[nodiscard]] bool would_change(const std::string& gang, const gang_status& status) const {
        const auto at = gangs_.find(gang);
        return at != gangs_.end() && !at->second.labels_only && at->second.status != status;
    }

    void take_results(std::vector<order_result<traits>>& into) {
        for (auto& each : results_)
            into.push_back(std::move(each));
        results_.clear();
        for (auto& each : api_->take_answers(name_))
            into.push_back(std::move(each));
    }

    void ask_listing() { compare_at_ = api_->now() + 2 * api_->how_long.latency; }
    bool take_listing(listing<traits>& into) {
        if (!compare_at_ || cut_off || *compare_at_ > api_->now())
            return false;
        compare_at_.reset();
        into = {};
        for (const auto& [key, node] : api_->nodes().objects)
            into.nodes.push_back(key);
        for (const auto& [key, pod] : api_->pods().objects)
            into.pods.push_back(
                {key, pod.uid, pod.on,
                 pod.spec.phase == pod_phase::succeeded || pod.spec.phase == pod_phase::failed,
                 pod.ours});
        for (const auto& [key, gang] : api_->gangs().objects)
            if (!gang.labels_only)
                into.gangs.emplace_back(key, gang.uid);
        return true;
    }
    void relist() {
        for (stream& each : streams_)
            each.at = stage::closed;
    }

private:
    using pod_object = typename api_type::pod_object;
    using gang_object = typename api_type::gang_object;

    enum class stage : std::uint8_t { closed, listing, open };
    struct stream {
        stage at = stage::closed;
        /// It has been listed in this term.
        bool listed = false;
        /// How far into the log it has come.
        std::size_t position = 0;
        std::int64_t answer = 0;
        /// When it was last known to be well.
        std::int64_t well = 0;
    };

    template<class Use>
    decltype(auto) with_store(object_kind kind, const Use& use) const {
        switch (kind) {
        case object_kind::node:
            return use(api_->nodes());
        case object_kind::queue:
            return use(api_->queues());
        case object_kind::gang:
            return use(api_->gangs());
        case object_kind::pod:
            break;
        }
        return use(api_->pods());
    }

    [[nodiscard]] std::int64_t next_change(std::size_t kind) const {
        return with_store(static_cast<object_kind>(kind), [&](const auto& store) {
            const std::size_t at = streams_[kind].position;
            return at < store.log.size() ? store.log[at].time + delay[kind] : never_comes;
        });
    }
    /// First listings of pods wait for all others.
    [[nodiscard]] bool may_list(std::size_t kind) const {
        return static_cast<object_kind>(kind) != object_kind::pod || streams_[kind].listed ||
               std::ranges::all_of(streams_, [&](const stream& each) {
                   return &each == &streams_[kind] || each.listed;
               });
    }

    // ---- elections -----------------------------------------------------------------------------

    void elect() {
        const std::int64_t time = api_->now();
        if (!elections_.elects || time < next_try_)
            return;
        next_try_ = time + elections_.retry;
        if (leads_ && time >= renewed_ + elections_.renewal)
            leads_ = false;
        if (cut_off)
            return;
        const auto& lease = api_->lease;
        if (leads_ && lease.holder != identity_)
            leads_ = false;
        if (!leads_ && (lease.renewals != seen_renewals_ || !seen_at_)) {
            seen_renewals_ = lease.renewals;
            seen_at_ = time;
        }
        const bool free = lease.holder.empty() || lease.holder == identity_ ||
                          time >= *seen_at_ + elections_.lease;
        if (!leads_ && !free) {
            next_try_ = std::min(next_try_, *seen_at_ + elections_.lease);
            return;
        }
        api_->renew(identity_);
        renewed_ = time;
        if (!leads_) {
            leads_ = true;
            ++term_;
            for (stream& each : streams_)
                each = stream{stage::closed, false, 0, 0, each.well};
        }
    }

    // ---- watching ------------------------------------------------------------------------------

    void follow(object_kind kind, cluster_view<traits>& view, view_status& status) {
        const auto at = static_cast<std::size_t>(kind);
        stream& of = streams_[at];
        const std::int64_t time = api_->now();
        if (!cut_off)
            with_store(kind, [&](const auto& store) { watch(of, at, store, view, status); });
        else if (of.at == stage::listing)
            of.at = stage::closed;
        const bool silent = of.at == stage::open && next_change(at) != never_comes &&
                            time - (next_change(at) - delay[at]) > silence;
        if (of.at == stage::open && !cut_off && !silent)
            of.well = time;
        status.as_of = std::min(status.as_of, of.well);
    }

    template<class Store>
    void watch(stream& of, std::size_t kind, const Store& store, cluster_view<traits>& view,
               view_status& status) {
        const std::int64_t time = api_->now();
        if (of.at == stage::open && of.position < store.oldest)
            of.at = stage::closed; // 410: it is too far behind
        if (of.at == stage::closed && may_list(kind)) {
            of.at = stage::listing;
            of.answer = time + 2 * api_->how_long.latency;
        }
        if (of.at == stage::listing && of.answer <= time) {
            const std::size_t behind = std::min(lag, store.log.size() - store.oldest);
            list(of, static_cast<object_kind>(kind), store, store.log.size() - behind, view);
            status.changed = true;
        }
        if (of.at != stage::open)
            return;
        std::size_t end = of.position;
        while (end < store.log.size() && store.log[end].time + delay[kind] <= time)
            ++end;
        std::map<std::string, std::size_t> last;
        if (skips)
            for (std::size_t each = of.position; each < end; ++each)
                last[store.log[each].key] = each;
        for (; of.position < end; ++of.position) {
            const auto& what = store.log[of.position];
            if (skips && last.at(what.key) != of.position)
                continue;
            status.changed = true;
            tell(what.key, what.now, view);
        }
    }

    template<class Store>
    void list(stream& of, object_kind kind, const Store& store, std::size_t position,
              cluster_view<traits>& view) {
        auto objects = store.objects;
        if (position < store.log.size()) {
            objects.clear();
            for (std::size_t each = 0; each < position; ++each)
                if (const auto& what = store.log[each]; what.now)
                    objects.insert_or_assign(what.key, *what.now);
                else
                    objects.erase(what.key);
        }
        view.begin_listing(kind);
        if (kind == object_kind::pod)
            pods_.clear();
        if (kind == object_kind::gang)
            gangs_.clear();
        for (const auto& [key, object] : objects)
            tell(key, std::optional(object), view);
        view.end_listing(kind);
        of.at = stage::open;
        of.listed = true;
        of.position = position;
    }

    void tell(const std::string& key, const std::optional<muster::node<Width>>& now,
              cluster_view<traits>& view) {
        now ? view.node(key, *now) : view.node_gone(key);
    }
    void tell(const std::string& key, const std::optional<muster::queue<Width>>& now,
              cluster_view<traits>& view) {
        now ? view.queue(key, *now) : view.queue_gone(key);
    }
    void tell(const std::string& key, const std::optional<gang_object>& now,
              cluster_view<traits>& view) {
        if (!now) {
            gangs_.erase(key);
            return view.gang_gone(key);
        }
        const auto before = gangs_.find(key);
        const bool anew = before == gangs_.end() || before->second.uid != now->uid ||
                          before->second.spec.tree.size() != now->spec.tree.size();
        gangs_.insert_or_assign(key, *now);
        seen_gang<traits> seen;
        seen.uid = now->uid;
        seen.spec = now->spec;
        if (!now->labels_only)
            seen.reached = now->reached;
        view.gang(key, std::move(seen));
        if (!anew)
            return;
        for (const auto& [name, pod] : pods_)
            if (pod.gang == key)
                tell_pod(name, pod, view);
    }
    void tell(const std::string& key, const std::optional<pod_object>& now,
              cluster_view<traits>& view) {
        if (now) {
            pods_.insert_or_assign(key, *now);
            tell_pod(key, *now, view);
        } else {
            pods_.erase(key);
            view.pod_gone(key);
            if (alone_.erase(key) > 0)
                view.gang_gone("pod " + key);
        }
    }
    void tell_pod(const std::string& key, const pod_object& pod, cluster_view<traits>& view) {
        seen_pod<traits> seen;
        seen.uid = pod.uid;
        seen.gang = pod.gang;
        seen.spec = pod.spec;
        seen.on = pod.on;
        seen.ours = pod.ours;
        seen.own_gate = pod.own_gate;
        seen.unbound_volumes = pod.unbound_volumes;
        if (pod.other_gate && !pod.on)
            seen.spec.phase = pod_phase::gated;
        // What stands since before its group was created is none of it, but of its queue.
        const auto gang = gangs_.find(pod.gang);
        const bool stands_alone =
            pod.ours && gang != gangs_.end() && pod.on && pod.bound_at < gang->second.created;
        if (!pod.ours || stands_alone) {
            seen.gang = "pod " + key;
            seen.spec.role = vertex_index{};
        }
        if (stands_alone) {
            alone_.insert(key);
            seen_gang<traits> alone;
            alone.spec.queue = gang->second.spec.queue;
            alone.spec.tree = single_role(1);
            view.gang(seen.gang, std::move(alone));
        }
        view.pod(key, seen);
    }

    // ---- orders --------------------------------------------------------------------------------

    template<class Order>
    void send_all(std::span<const Order> all, bool writes) {
        for (const Order& each : all) {
            order_result<traits> result;
            result.of = each.of;
            if (writes && !may_write())
                result.what = outcome::not_started;
            else if (cut_off)
                result.what = outcome::transient;
            else {
                api_->send(name_, each,
                           streams_[static_cast<std::size_t>(object_kind::gang)].position);
                continue;
            }
            results_.push_back(std::move(result));
        }
    }

    api_type* api_;
    std::string name_;
    std::string identity_;
    election_options elections_;
    std::array<stream, object_kinds> streams_{};
    /// As told last.
    std::map<std::string, pod_object> pods_;
    std::map<std::string, gang_object> gangs_;
    std::set<std::string> alone_;
    std::vector<order_result<traits>> results_;
    std::optional<std::int64_t> compare_at_;
    bool leads_ = false;
    std::uint64_t term_ = 0;
    std::int64_t renewed_ = 0;
    std::int64_t next_try_ = 0;
    std::uint64_t seen_renewals_ = 0;
    std::optional<std::int64_t> seen_at_;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
