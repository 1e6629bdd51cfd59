// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/cluster/state.hpp>
#include <muster/testing/node_rules.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// The pods whose use counts: `now`, the pods that hold nodes; `later`, the pods that will hold
/// nodes once all terminating pods have left and all nominated pods have started; `now_and_later`,
/// the greater of both; `emptied`, none.
enum class moment : std::uint8_t { now, later, now_and_later, emptied };

/// What is assumed beside the records.
struct supposed {
    /// Leave.
    std::vector<pod_index> gone{};
    /// Come anew, wherever they were to come.
    std::vector<pod_index> coming{};
    /// Come there too.
    std::vector<std::pair<pod_index, node_index>> moved{};
    /// What is reserved for other gangs is not free.
    bool reserved = false;
};

/// What a gang asks and what there is for it, for the verifier alone: added up from the records of
/// a state, of whose accounts nothing is used.
template<class Traits>
class rebuilt_problem {
    static constexpr std::size_t width = Traits::width;
    using amounts = resources<width>;

public:
    struct place {
        node_index node;
        const muster::node<width>* spec = nullptr;
        amounts free{};
        std::vector<host_port> ports{};
        /// What the pods on it demand of its devices, in any order.
        std::vector<device_demand> devices{};
    };
    /// Waiting members of one role with one request and the same constraints.
    struct alike {
        muster::pod<width> spec{};
        std::int64_t waiting = 0;
        /// Their labels, one set for each of them.
        std::vector<label_set> labels{};
    };
    /// The values of a node's labels down to a level; absent = it lacks one.
    using domain = std::optional<std::vector<std::string>>;

    rebuilt_problem(const state<Traits>& known, gang_index which, moment when,
                    const supposed& beside = {})
        : known_(known),
          which_(which),
          tree_(known[which].spec.tree),
          beside_(beside),
          emptied_(when == moment::emptied),
          firm_(!known[which].spec.preemptible) {
        const auto& group = known[which];
        if (group.queue && known[*group.queue].present)
            queue_ = group.queue;
        for (const node_index node : known.node_order())
            if (known[node].present)
                places.push_back({node, &known[node].spec, known[node].spec.allocatable});
        // The nodes start out empty.
        if (emptied_)
            settle(places);
        if (when == moment::now || when == moment::now_and_later)
            add_up(false);
        if (when == moment::later || when == moment::now_and_later)
            add_up(true);
        // Members may name any role of a gang that is not there.
        std::size_t roles = group.spec.tree.size();
        for (const pod_index member : group.members)
            roles = std::max(roles, known[member].role.value() + 1);
        holding.assign(roles, 0);
        std::vector<pod_index> waiting;
        for (const auto& [key, pod] : known.pod_keys())
            if (known[pod].gang == which && waits(pod) && !known.where(pod).value.held())
                waiting.push_back(pod);
        std::stable_sort(waiting.begin(), waiting.end(), [&](pod_index lhs, pod_index rhs) {
            return std::pair(known[lhs].role, known[lhs].created) <
                   std::pair(known[rhs].role, known[rhs].created);
        });
        for (const pod_index pod : waiting)
            join(known.spec_of(pod));
        for (const pod_index pod : group.members) {
            const auto& one = known[pod];
            // What holds it may end, and then any node may take it.
            if (emptied_ && waits(pod) && known.where(pod).value.held())
                ++holding[one.role.value()];
            if (!is_alive(pod) || waits(pod) ||
                (one.phase == pod_phase::pending && !one.assumed && !one.nominated))
                continue;
            ++holding[one.role.value()];
            if (!emptied_ && takes_room(pod))
                standing.push_back({one.role.value(),
                                    known[*one.node].present ? &known[*one.node].spec : nullptr});
        }
    }

    /// Present nodes in the order of their keys, less what counts against them.
    std::vector<place> places;
    /// By role, then by their oldest member, then by its key.
    std::vector<alike> classes;
    /// Members that hold, by role.
    std::vector<std::int64_t> holding;
    /// Role and node of those that occupy one, which may not be there.
    std::vector<std::pair<std::size_t, const muster::node<width>*>> standing;
    /// What ceilings leave to the gang's queue, where there are any.
    std::array<std::optional<std::int64_t>, width> left{};

    [[nodiscard]] bool welcome(const constraints& who, const muster::node<width>& on) const {
        return is_of_queue(on) && node_rules::welcome(who, on, emptied_);
    }
    /// The gang's queue and those above take the node.
    [[nodiscard]] bool is_of_queue(const muster::node<width>& on) const {
        for (std::optional<queue_index> up = queue_; up; up = known_[*up].parent)
            if (!node_rules::match(known_[*up].spec.nodes, on.labels))
                return false;
        return true;
    }
    /// A member that may be placed.
    [[nodiscard]] bool waits(pod_index pod) const {
        const auto& one = known_[pod];
        const bool comes = std::count(beside_.coming.begin(), beside_.coming.end(), pod) > 0;
        return is_alive(pod) && one.phase == pod_phase::pending && !one.assumed &&
               (!one.nominated || comes);
    }

    /// It is on a node, or to come there, and takes some of it.
    [[nodiscard]] bool takes_room(pod_index pod) const {
        const auto& one = known_[pod];
        return one.node && one.phase != pod_phase::succeeded && one.phase != pod_phase::failed &&
               !is_in(beside_.coming, pod);
    }

    /// The vertex is `above` or stands below it.
    [[nodiscard]] bool lies_below(std::size_t vertex, std::size_t above) const {
        while (vertex > above)
            vertex = tree_[vertex].parent;
        return vertex == above;
    }
    /// Where the node stands as far as the vertex's members must stand together.
    [[nodiscard]] domain domain_of(std::size_t vertex, const muster::node<width>& on) const {
        const topology_constraint& how = *tree_[vertex].together;
        std::vector<std::string> values;
        for (std::size_t level = 0; level <= *how.required; ++level) {
            const std::string* value = node_rules::label(on.labels, how.within.levels[level]);
            if (!value)
                return std::nullopt;
            values.push_back(*value);
        }
        return values;
    }
    /// Some member at or below the vertex occupies a node.
    [[nodiscard]] bool is_held(std::size_t vertex) const {
        return std::any_of(standing.begin(), standing.end(),
                           [&](const auto& one) { return lies_below(one.first, vertex); });
    }
    /// Returns the domains that the vertex's members may use: the domain of members that have
    /// nodes, else all domains in the order of their values. Empty if these members are in two
    /// domains, or one of them is in none.
    [[nodiscard]] std::set<domain> domains_open_to(std::size_t vertex) const {
        std::set<domain> open;
        for (const auto& [role, on] : standing)
            if (lies_below(role, vertex))
                open.insert(on ? domain_of(vertex, *on) : domain{});
        for (const place& at : places)
            if (!is_held(vertex))
                open.insert(domain_of(vertex, *at.spec));
        if (is_held(vertex) && (open.size() > 1 || open.count(std::nullopt) > 0))
            return {};
        open.erase(std::nullopt);
        return open;
    }

private:
    /// What a pod uses of a node and of a queue.
    struct claim {
        std::optional<node_index> node{};
        std::optional<queue_index> queue{};
        amounts amount{};
        bool non_preemptible = false;
    };

    template<class Value>
    [[nodiscard]] static bool is_in(const std::vector<Value>& list, const Value& one) {
        return std::find(list.begin(), list.end(), one) != list.end();
    }
    [[nodiscard]] bool is_alive(pod_index pod) const {
        const auto& one = known_[pod];
        return !one.terminating && !one.evicted && one.phase != pod_phase::failed &&
               one.phase != pod_phase::gated;
    }
    /// Takes off what counts now, or later: what is left of both is the lesser.
    void add_up(bool later) {
        std::vector<place> then = places;
        for (place& at : then)
            at.free = at.spec->allocatable;
        const auto put = [&](const claim& one, const std::vector<host_port>& ports) {
            claims_.push_back(one);
            for (place& at : then)
                if (at.node == one.node) {
                    for (std::size_t kind = 0; kind < width; ++kind)
                        at.free[kind] -= one.amount[kind];
                    at.ports.insert(at.ports.end(), ports.begin(), ports.end());
                }
        };
        const auto put_pod = [&](pod_index pod, std::optional<node_index> on) {
            const auto& group = known_[known_[pod].gang];
            const node_claims& claims = known_.where(pod).value.claims;
            put({on, group.queue, known_.request(pod), !group.spec.preemptible}, claims.ports);
            if (claims.devices == device_demand::none || is_in(device_users_, pod))
                return;
            // Now or later: a pod that is there at both times counts once.
            device_users_.push_back(pod);
            for (place& at : then)
                if (at.node == on)
                    at.devices.push_back(claims.devices);
        };
        claims_.clear();
        for (const auto& [key, gang] : known_.gang_keys())
            for (const pod_index pod : known_[gang].members) {
                const auto& one = known_[pod];
                const bool leaves = one.terminating || one.evicted || is_in(beside_.gone, pod);
                if (takes_room(pod) && (later ? one.nominated || !leaves : !one.nominated))
                    put_pod(pod, one.node);
            }
        for (const auto& [pod, node] : beside_.moved)
            put_pod(pod, node);
        for (const auto& kept : known_.reservations()) {
            if (!beside_.reserved || kept.owner.index == which_)
                continue;
            put({std::nullopt, kept.queue, kept.quota}, {});
            for (const auto& part : kept.parts)
                put({part.node, std::nullopt, part.amount}, {});
        }
        settle(then);
    }
    /// The lesser of what was left before and what the claims leave.
    void settle(const std::vector<place>& then) {
        for (std::size_t at = 0; at < places.size(); ++at) {
            places[at].ports = then[at].ports;
            places[at].devices = then[at].devices;
            for (std::size_t kind = 0; kind < width; ++kind)
                places[at].free[kind] = std::min(places[at].free[kind], then[at].free[kind]);
        }
        for (std::size_t kind = 0; kind < width; ++kind)
            if (const auto mine = left_by_ceilings(kind))
                left[kind] = std::min(*mine, left[kind].value_or(*mine));
    }

    [[nodiscard]] bool is_within(queue_index queue, queue_index above) const {
        for (std::optional<queue_index> up = queue; up; up = known_[*up].parent)
            if (*up == above)
                return true;
        return false;
    }
    /// What counts against the queue's ceiling: what its own pods hold, and of each queue below it
    /// what that claims or is guaranteed, whichever is more.
    [[nodiscard]] int128 claimed(queue_index queue, std::size_t kind) const {
        int128 sum = 0;
        for (const claim& one : claims_)
            sum += one.queue == queue ? one.amount[kind] : 0;
        for (const auto& [key, child] : known_.queue_keys())
            if (known_[child].parent == queue)
                sum += std::max<int128>(known_[child].spec.guarantee[kind], claimed(child, kind));
        return sum;
    }
    [[nodiscard]] int128 held_firmly(queue_index queue, std::size_t kind) const {
        int128 sum = 0;
        for (const claim& one : claims_)
            sum += one.non_preemptible && one.queue && is_within(*one.queue, queue)
                       ? one.amount[kind]
                       : 0;
        return sum;
    }
    /// What a queue takes within its guarantee claims nothing more of those above it.
    [[nodiscard]] std::optional<std::int64_t> left_by_ceilings(std::size_t kind) const {
        std::optional<int128> least;
        int128 guaranteed = 0;
        const auto limit = [&](const std::optional<std::int64_t>& top, int128 used, int128 more) {
            const int128 rest = top ? std::max<int128>(0, *top - used) + more : 0;
            if (top)
                least = std::min(least.value_or(rest), rest);
        };
        for (std::optional<queue_index> up = queue_; up; up = known_[*up].parent) {
            const auto& spec = known_[*up].spec;
            const int128 used = claimed(*up, kind);
            limit(spec.quota[kind_id{kind}], used, guaranteed);
            if (firm_)
                limit(spec.non_preemptible_quota[kind_id{kind}], held_firmly(*up, kind), 0);
            guaranteed += std::max<int128>(0, spec.guarantee[kind] - used);
        }
        constexpr int128 largest = std::numeric_limits<std::int64_t>::max();
        return least ? std::optional(static_cast<std::int64_t>(std::min(*least, largest)))
                     : std::nullopt;
    }

    void join(const muster::pod<width>& spec) {
        const auto same = std::find_if(classes.begin(), classes.end(), [&](const alike& one) {
            return one.spec.role == spec.role && one.spec.request == spec.request &&
                   one.spec.where == spec.where;
        });
        alike& mine = same == classes.end() ? classes.emplace_back(alike{spec}) : *same;
        ++mine.waiting;
        mine.labels.push_back(spec.labels);
    }

    const state<Traits>& known_;
    gang_index which_;
    const gang_tree& tree_;
    supposed beside_;
    std::optional<queue_index> queue_;
    bool emptied_ = false;
    bool firm_ = false;
    std::vector<claim> claims_;
    std::vector<pod_index> device_users_;
};

} // namespace testing
} // namespace v0_1
} // namespace muster
