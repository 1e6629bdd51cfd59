// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/muster.hpp>

#include "cluster.hpp"

namespace bench {

template<std::size_t Width>
struct engine_traits {
    using node_key = std::uint32_t;
    using pod_key = std::uint32_t;
    using gang_key = std::uint32_t;
    using queue_key = std::uint32_t;
    static constexpr std::size_t width = Width;
};

/// With an index that splits, merges and learns all the time.
template<std::size_t Width>
struct small_index_traits : engine_traits<Width> {
    static constexpr std::size_t index_fanout = 4;
    static constexpr std::size_t index_thresholds = 2;
};

/// Fails the program unless the event applies.
inline void applied(muster::event_result what) {
    if (what != muster::event_result::applied)
        fail("an event does not apply");
}

/// The one place that talks to Muster, by its public API. Nodes are keyed by their number, gangs by
/// the number that `submit` gives. Who calls does the timing.
template<std::size_t Width, class Score = muster::best_fit, class Traits = engine_traits<Width>>
class muster_engine {
public:
    explicit muster_engine(const std::vector<node_spec<Width>>& nodes)
        : known_(muster::kind_id{pods}) {
        for (std::size_t at = 0; at < nodes.size(); ++at)
            change_node(static_cast<std::uint32_t>(at), nodes[at]);
    }

    /// Tells of a gang and its members, none of which runs.
    std::uint32_t submit(const gang_spec<Width>& what) {
        const auto number = static_cast<std::uint32_t>(gangs_.size());
        const bool one_role = what.roles.size() == 1;
        muster::gang<std::uint32_t> group;
        group.created = number;
        if (one_role)
            group.tree = muster::single_role(what.roles.front().minimum);
        else
            for (const role_spec<Width>& role : what.roles)
                group.tree.add(muster::vertex_index{0}, role.minimum);
        applied(known_.upsert_gang(number, group));

        muster::pod<Width> member;
        if (what.pool != no_pool)
            member.where.selector.requirements.push_back(
                {"pool", muster::label_operator::in, {std::to_string(what.pool)}});
        const std::uint32_t first = next_pod_;
        for (std::size_t role = 0; role < what.roles.size(); ++role) {
            member.role = muster::vertex_index{one_role ? 0 : role + 1};
            for (std::size_t column = 0; column < Width; ++column)
                member.request[column] = what.roles[role].request[column];
            for (std::int64_t left = what.roles[role].desired; left > 0; --left)
                applied(known_.upsert_pod(next_pod_++, number, member));
        }
        gangs_.push_back({*known_.find_gang(number), first, next_pod_});
        return number;
    }

    /// Decides this one gang now; true when it starts.
    bool start(std::uint32_t gang) {
        muster::start(known_, gangs_[gang].handle.index, how_, {}, result_);
        return result_.decisions.front().outcome.kind == muster::answer::admitted;
    }

    /// What the last `start` placed, and whether it gave up.
    [[nodiscard]] std::vector<placed> placements() const {
        std::vector<placed> made;
        const muster::decision& last = result_.decisions.front();
        const std::size_t first_role = known_[last.gang].spec.tree.size() == 1 ? 0 : 1;
        for (const auto& [pod, node] : last.placements)
            made.push_back({static_cast<std::uint32_t>(known_[pod].role.value() - first_role),
                            known_.key(node)});
        return made;
    }
    [[nodiscard]] bool undecided() const noexcept {
        return result_.decisions.front().outcome.kind == muster::answer::undecided;
    }

    /// The gang's members have done their work and left their nodes.
    void release(std::uint32_t gang) {
        applied(known_.finish_gang(gangs_[gang].handle));
        muster::catch_up(known_, how_);
    }

    /// Members that still wait, of a gang that runs, do so no more.
    void withdraw_surplus(std::uint32_t gang) {
        for (std::uint32_t pod = gangs_[gang].pods_end; pod-- > gangs_[gang].first_pod;)
            if (known_[known_.find_pod(pod)->index].placeable())
                applied(known_.remove_pod(pod));
    }

    /// Nothing is known of the gang any more.
    void forget(std::uint32_t gang) {
        for (std::uint32_t pod = gangs_[gang].pods_end; pod-- > gangs_[gang].first_pod;)
            if (known_.find_pod(pod))
                applied(known_.remove_pod(pod));
        applied(known_.remove_gang(gang));
    }

    /// One cycle over everything that waits.
    void cycle() { muster::cycle(known_, 0, how_, {}, {}, result_); }

    /// Of the last cycle: gangs asked, and gangs of which something starts.
    [[nodiscard]] std::size_t last_asked() const noexcept { return result_.counters.asked; }
    [[nodiscard]] std::size_t last_started() const noexcept {
        std::size_t count = 0;
        for (const muster::decision& made : result_.decisions)
            count += made.placements.empty() ? 0U : 1U;
        return count;
    }

    void change_node(std::uint32_t number, const node_spec<Width>& to) {
        muster::node<Width> made;
        for (std::size_t column = 0; column < Width; ++column)
            made.allocatable[column] = to.allocatable[column];
        if (to.pool != no_pool)
            made.labels.set("pool", std::to_string(to.pool));
        applied(known_.upsert_node(number, made));
    }

    /// Bytes of the index and of the map from nodes to their places in it.
    [[nodiscard]] std::size_t index_bytes() { return muster::index_bytes(known_, how_); }

private:
    struct submitted {
        muster::handle<muster::gang_tag> handle;
        std::uint32_t first_pod;
        std::uint32_t pods_end;
    };

    muster::state<Traits> known_;
    muster::any_policy<muster::core_of<Traits>> how_ = muster::policy<Score>{};
    muster::cycle_result result_;
    std::vector<submitted> gangs_;
    std::uint32_t next_pod_ = 0;
};

} // namespace bench
