// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// The one place that talks to Muster, by its public API alone. Nodes are keyed by their number;
/// gangs by the number that `submit` gives. Who calls does the timing.
template<std::size_t Width, class Score = muster::best_fit>
class muster_engine {
public:
    using state_type = muster::state<engine_traits<Width>>;

    explicit muster_engine(const std::vector<node_spec<Width>>& nodes)
        : known_(muster::kind_id{pods}) {
        for (std::size_t at = 0; at < nodes.size(); ++at)
            change_node(static_cast<std::uint32_t>(at), nodes[at]);
    }

    /// Tells of a gang and its members, none of which runs.
    std::uint32_t submit(const gang_spec<Width>& what) {
        const auto number = static_cast<std::uint32_t>(first_pod_.size() - 1);
        const bool one_role = what.roles.size() == 1;
        muster::gang<std::uint32_t> group;
        group.created = number;
        if (one_role)
            group.tree = muster::single_role(what.roles.front().minimum);
        else
            for (const role_spec<Width>& role : what.roles)
                group.tree.add(muster::vertex_index{0}, role.minimum);
        must(known_.upsert_gang(number, group));

        muster::pod<Width> member;
        if (what.pool != no_pool)
            member.where.selector.requirements.push_back(
                {"pool", muster::label_operator::in, {std::to_string(what.pool)}});
        std::uint32_t key = first_pod_.back();
        for (std::size_t role = 0; role < what.roles.size(); ++role) {
            member.role = muster::vertex_index{one_role ? 0 : role + 1};
            for (std::size_t column = 0; column < Width; ++column)
                member.request[column] = what.roles[role].request[column];
            for (std::int64_t left = what.roles[role].desired; left > 0; --left)
                must(known_.upsert_pod(key++, number, member));
        }
        first_pod_.push_back(key);
        return number;
    }

    /// Decides this one gang now; true when it starts. Nothing else may be waiting.
    bool start(std::uint32_t gang) {
        cycle();
        admitted_ = nullptr;
        undecided_ = false;
        for (const muster::decision& made : result_.decisions) {
            if (known_[made.gang].key != gang)
                continue;
            undecided_ = made.outcome.kind == muster::answer::undecided;
            if (made.outcome.kind == muster::answer::admitted)
                admitted_ = &made;
        }
        return admitted_ != nullptr;
    }

    /// What the last `start` placed, and whether it gave up.
    [[nodiscard]] std::vector<placed> placements() const {
        std::vector<placed> made;
        if (!admitted_)
            return made;
        const bool one_role = known_[admitted_->gang].spec.tree.size() == 1;
        for (const auto& [pod, node] : admitted_->placements)
            made.push_back({static_cast<std::uint32_t>(known_[pod].spec.role.value() -
                                                       (one_role ? 0 : 1)),
                            known_[node].key});
        return made;
    }
    [[nodiscard]] bool undecided() const noexcept { return undecided_; }

    /// The gang's members have left their nodes.
    void release(std::uint32_t gang) {
        for_each_pod(gang, [this](std::uint32_t pod) { must(known_.remove_pod(pod)); });
    }

    /// Members that still wait, of a gang that runs, do so no more.
    void withdraw_surplus(std::uint32_t gang) {
        for_each_pod(gang, [this](std::uint32_t pod) {
            if (known_[known_.find_pod(pod)->index].placeable())
                must(known_.remove_pod(pod));
        });
    }

    /// Nothing is known of the gang any more.
    void forget(std::uint32_t gang) {
        release(gang);
        must(known_.remove_gang(gang));
    }

    /// One cycle over everything that waits.
    const muster::cycle_result& cycle() {
        result_ = muster::cycle(known_, 0, muster::policy<Score>{});
        return result_;
    }

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
        must(known_.upsert_node(number, made));
    }

    /// Bytes of the index and of the map from keys to nodes, where Muster tells.
    [[nodiscard]] std::optional<std::size_t> index_bytes() const {
        return told_by(known_);
    }

private:
    template<class State>
    static std::optional<std::size_t> told_by(const State& known) {
        if constexpr (requires { known.index_bytes(); })
            return known.index_bytes();
        else
            return std::nullopt;
    }

    static void must(muster::event_result what) {
        if (what != muster::event_result::applied)
            fail("Muster refuses an event");
    }

    template<class Use>
    void for_each_pod(std::uint32_t gang, const Use& use) {
        for (std::uint32_t pod = first_pod_[gang]; pod < first_pod_[gang + 1]; ++pod)
            if (known_.find_pod(pod))
                use(pod);
    }

    state_type known_;
    muster::cycle_result result_;
    const muster::decision* admitted_ = nullptr;
    bool undecided_ = false;
    /// Per gang its first pod's key; the next gang's is the end.
    std::vector<std::uint32_t> first_pod_{0};
};

} // namespace bench
