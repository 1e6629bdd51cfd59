// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/testing/random.hpp>
#include <support/card_rule.hpp>
#include <support/random_volumes.hpp>
#include <support/world.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// Makes random small clusters with everything in them that bears on a decision. Amounts are a few
/// units, so that gangs often fit just or just not.
class world_generator {
public:
    explicit world_generator(std::uint64_t seed) : chance_(seed) { made_.seed = seed; }

    /// From here on members are always to stand together, on nodes that mostly say where they are.
    world_generator& with_topology() {
        always_close_ = true;
        return *this;
    }

    [[nodiscard]] world make() {
        made_.kinds = 2 + chance_.below(3);
        plain_ = chance_.percent(35);
        close_ = chance_.percent(30) || always_close_;
        for (std::int64_t at = chance_.between(1, 4); at > 0; --at)
            add_node();
        if (!chance_.percent(25))
            for (std::int64_t at = chance_.between(1, 2); at > 0; --at)
                add_queue();
        if (!made_.queues.empty() && chance_.percent(40))
            grow_queue_tree();
        for (std::int64_t at = chance_.between(1, 4); at > 0; --at)
            add_gang();
        if (chance_.percent(8))
            add_members("missing", chance_.percent(50) ? single_role(1) : random_tree(),
                        1 + chance_.below(2));
        if (!made_.queues.empty() && rarely(25))
            make_some_firm();
        return std::move(made_);
    }

private:
    /// A feature of worlds that are not plain, in that many of a hundred cases.
    [[nodiscard]] bool rarely(std::int64_t percent) { return !plain_ && chance_.percent(percent); }

    [[nodiscard]] std::string zone() { return chance_.percent(50) ? "a" : "b"; }

    void add_node() {
        world::named_node one;
        // Keys whose order is not the order of making them.
        one.key = std::string(1, "dbca"[made_.nodes.size()]) + "-node";
        auto& spec = one.spec;
        for (std::size_t kind = 0; kind + 1 < made_.kinds; ++kind)
            spec.allocatable[kind] = unit(kind) * chance_.between(kind == 2 ? 0 : 2, 8);
        spec.allocatable[made_.pods_kind()] = chance_.between(2, 6);
        if (chance_.percent(10))
            spec.allocatable[made_.pods_kind()] = 110;
        spec.name = one.key;
        if (chance_.percent(close_ ? 94 : 70))
            spec.labels.set("zone", zone());
        if (chance_.percent(close_ ? 90 : 50))
            spec.labels.set("rank", std::to_string(chance_.between(1, 3)));
        if (rarely(15))
            spec.taints.push_back({"dedicated", zone(), effect()});
        if (rarely(8))
            spec.taints.push_back({"node.kubernetes.io/not-ready", "", taint_effect::no_execute});
        if (rarely(6))
            spec.taints.push_back(
                {"node.kubernetes.io/unschedulable", "", taint_effect::no_schedule});
        spec.unschedulable = rarely(8);
        made_.nodes.push_back(std::move(one));
    }

    [[nodiscard]] taint_effect effect() {
        return std::vector{taint_effect::no_schedule, taint_effect::no_execute,
                           taint_effect::prefer_no_schedule}[chance_.below(3)];
    }

    /// Memory counts in other magnitudes than cpu.
    [[nodiscard]] static std::int64_t unit(std::size_t kind) { return kind == 1 ? 1000 : 1; }

    void add_queue() {
        world::named_queue one;
        // Keys whose order is not that of the tree.
        one.key = std::string(1, "yxbza"[made_.queues.size()]) + "-queue";
        auto& spec = one.spec;
        for (std::size_t kind = 0; kind < made_.kinds; ++kind)
            if (chance_.percent(35))
                spec.quota.set(kind_id{kind}, unit(kind == made_.kinds - 1 ? 0 : kind) *
                                                  chance_.between(rarely(10) ? 0 : 3, 14));
        spec.priority = chance_.between(0, 1);
        spec.closed = rarely(10);
        spec.strict_order = rarely(10);
        if (rarely(15))
            spec.tenants = label_selector{{{"team", label_operator::in, {"red"}}}};
        else if (rarely(3))
            spec.tenants.reset();
        if (rarely(12))
            spec.nodes.requirements.push_back({"zone", label_operator::in, {zone()}});
        made_.queues.push_back(std::move(one));
    }

    /// Makes some gangs non-preemptible, and adds quotas for these.
    void make_some_firm() {
        for (auto& each : made_.gangs)
            each.spec.preemptible = !chance_.percent(40);
        for (auto& each : made_.queues)
            for (std::size_t kind = 0; kind < made_.kinds; ++kind)
                if (chance_.percent(25))
                    each.spec.non_preemptible_quota.set(kind_id{kind},
                                                        unit(kind == made_.kinds - 1 ? 0 : kind) *
                                                            chance_.between(0, 10));
    }

    /// Up to three queues above those that are there, and what they guarantee.
    void grow_queue_tree() {
        const std::size_t leaves = made_.queues.size();
        for (std::int64_t at = chance_.between(1, 3); at > 0; --at)
            add_queue();
        for (std::size_t at = 0; at < made_.queues.size(); ++at) {
            // Parents stand behind their children, so that there are no circles.
            const std::size_t first = std::max(at + 1, leaves);
            if (first < made_.queues.size() && chance_.percent(85))
                made_.queues[at].parent =
                    made_.queues[first + chance_.below(made_.queues.size() - first)].key;
            else if (rarely(10))
                made_.queues[at].parent = "unknown-parent";
            if (!made_.queues[at].parent || !chance_.percent(60))
                continue;
            for (std::size_t kind = 0; kind < made_.kinds; ++kind)
                if (chance_.percent(50))
                    made_.queues[at].spec.guarantee[kind_id{kind}] =
                        unit(kind == made_.kinds - 1 ? 0 : kind) * chance_.between(1, 6);
        }
    }

    [[nodiscard]] gang_tree random_tree() {
        const std::int64_t shape = chance_.between(0, 99);
        if (shape < 35)
            return gang_tree(chance_.between(1, 4));
        gang_tree tree(chance_.percent(40) ? chance_.between(0, 4) : 0);
        if (shape < 80) {
            const std::int64_t roles = chance_.between(1, 3);
            for (std::int64_t role = 0; role < roles; ++role)
                static_cast<void>(tree.add(vertex_index{0}, chance_.between(0, 2)));
            if (chance_.percent(35))
                tree.require_subgroups(vertex_index{0}, chance_.between(0, roles));
            return tree;
        }
        const auto left = tree.add(vertex_index{0}, chance_.between(0, 3));
        static_cast<void>(tree.add(left, chance_.between(0, 2)));
        static_cast<void>(tree.add(left, chance_.between(0, 2)));
        if (chance_.percent(50))
            tree.require_subgroups(left, chance_.between(1, 2));
        static_cast<void>(tree.add(vertex_index{0}, chance_.between(0, 2)));
        if (chance_.percent(50))
            tree.require_subgroups(vertex_index{0}, chance_.between(1, 2));
        return tree;
    }

    /// Some vertices of the tree, and the whole gang in most cases, in a topology of two levels,
    /// and now and then in another one, whose domains lie across those of the first.
    void constrain_topology(gang_tree& tree) {
        for (std::size_t at = 0; at < tree.size(); ++at) {
            if (!chance_.percent(at == 0 ? 65 : 35))
                continue;
            topology_constraint how{{{"zone", "rank"}}, {}, {}};
            if (chance_.percent(15))
                how.within = topology{{"rank", "zone"}};
            if (chance_.percent(85))
                how.required = chance_.below(2);
            if (!how.required || chance_.percent(30))
                how.preferred = chance_.below(2);
            tree.constrain_topology(vertex_index{at}, how);
        }
    }

    void add_gang() {
        world::named_gang one;
        one.key = std::string(1, "tsvu"[made_.gangs.size()]) + "-gang";
        auto& spec = one.spec;
        spec.tree = random_tree();
        if (close_ && chance_.percent(80))
            constrain_topology(spec.tree);
        spec.priority = chance_.between(0, 1);
        spec.created = chance_.between(1, 3);
        if (!made_.queues.empty() && !chance_.percent(20))
            spec.queue = made_.queues[chance_.below(made_.queues.size())].key;
        if (rarely(5))
            spec.queue = "unknown-queue";
        if (chance_.percent(70))
            spec.tenant.set("team", rarely(25) ? "blue" : "red");
        if (rarely(4))
            spec.fault = chance_.percent(50) ? gang_fault::malformed : gang_fault::disagreement;
        const gang_tree tree = spec.tree;
        std::string key = one.key;
        made_.gangs.push_back(std::move(one));
        const std::int64_t members =
            chance_.percent(85) ? chance_.between(3, 6) : chance_.between(0, 2);
        add_members(key, tree, static_cast<std::size_t>(members));
    }

    void add_members(const std::string& gang, const gang_tree& tree, std::size_t count) {
        std::vector<std::size_t> leaves;
        for (std::size_t at = 0; at < tree.size(); ++at)
            if (tree.is_leaf(at))
                leaves.push_back(at);
        std::vector<world::named_pod> templates;
        const auto made = static_cast<std::size_t>(chance_.between(1, 3));
        for (std::size_t at = 0; at < made; ++at)
            templates.push_back(pod_template());
        for (std::size_t at = 0; at < count; ++at) {
            world::named_pod pod = templates[chance_.below(templates.size())];
            pod.gang = gang;
            pod.key = gang + std::string(1, static_cast<char>('z' - at));
            pod.spec.role =
                vertex_index{leaves[at < leaves.size() ? at : chance_.below(leaves.size())]};
            pod.spec.created = chance_.between(1, 3);
            give_phase(pod);
            made_.pods.push_back(std::move(pod));
        }
    }

    [[nodiscard]] world::named_pod pod_template() {
        world::named_pod one;
        auto& spec = one.spec;
        for (std::size_t kind = 0; kind + 1 < made_.kinds; ++kind)
            spec.request[kind] = chance_.percent(25) ? 0 : unit(kind) * chance_.between(1, 4);
        spec.request[made_.pods_kind()] = rarely(5) ? 0 : 1;
        auto& where = spec.where;
        if (rarely(15))
            where.selector.requirements.push_back(requirement());
        if (rarely(12)) {
            where.affinity.emplace();
            for (std::int64_t terms = chance_.between(0, 2); terms > 0; --terms) {
                node_term term;
                if (chance_.percent(80))
                    term.labels.requirements.push_back(requirement());
                if (chance_.percent(20))
                    term.name.push_back({"metadata.name",
                                         label_operator::in,
                                         {made_.nodes[chance_.below(made_.nodes.size())].key}});
                where.affinity->push_back(std::move(term));
            }
        }
        if (rarely(20)) {
            node_term term;
            term.labels.requirements.push_back(requirement());
            where.preferred.push_back(
                {static_cast<std::int32_t>(chance_.between(1, 100)), std::move(term)});
        }
        if (rarely(20))
            where.tolerations.push_back({"dedicated", std::nullopt, std::nullopt});
        if (rarely(6))
            where.tolerations.push_back({std::nullopt, std::nullopt, taint_effect::no_schedule});
        if (rarely(4))
            where.tolerations.push_back({});
        if (rarely(15))
            where.claims.ports.push_back({chance_.percent(85) ? "TCP" : "UDP",
                                          chance_.percent(75) ? "" : "10.0.0.1",
                                          static_cast<std::int32_t>(chance_.between(80, 81))});
        where.unsupported = rarely(5);
        where.volume_not_ready = rarely(3);
        if (rarely(15))
            where.volumes = random_volumes(chance_, made_.nodes);
        return one;
    }

    [[nodiscard]] label_requirement requirement() {
        switch (chance_.between(0, 5)) {
        case 0:
            return {"zone", label_operator::not_in, {zone()}};
        case 1:
            return {"rank", label_operator::exists, {}};
        case 2:
            return {"zone", label_operator::does_not_exist, {}};
        case 3:
            return {"rank", label_operator::greater, {std::to_string(chance_.between(0, 2))}};
        case 4:
            return {"rank", label_operator::less, {std::to_string(chance_.between(2, 4))}};
        default:
            return {"zone", label_operator::in, {zone()}};
        }
    }

    void give_phase(world::named_pod& pod) {
        pod.spec.terminating = rarely(3);
        const std::int64_t roll = chance_.between(0, 99);
        if (roll < 78)
            return;
        static constexpr pod_phase standing[] = {pod_phase::bound, pod_phase::running,
                                                 pod_phase::running, pod_phase::unknown};
        if (roll < 93) {
            pod.spec.phase = standing[chance_.below(4)];
            // Nothing asks whether there is room: nodes become over-committed, or are not there.
            pod.on = made_.nodes[chance_.below(made_.nodes.size())].key;
            if (rarely(8))
                pod.on = "nobody-knows";
            return;
        }
        pod.spec.phase = roll < 95   ? pod_phase::gated
                         : roll < 98 ? pod_phase::succeeded
                                     : pod_phase::failed;
        if (pod.spec.phase != pod_phase::gated && chance_.percent(50))
            pod.on = made_.nodes[chance_.below(made_.nodes.size())].key;
    }

    random chance_;
    world made_;
    bool plain_ = false;
    /// Members are often to stand together.
    bool close_ = false;
    bool always_close_ = false;
};

/// A gang of two or three unequal roles on an otherwise empty cluster, where every role alone would
/// fit and all kinds suffice in total: only trying tells whether all fit together. Made from a
/// packing that leaves little room, from which in most cases some is moved to another node.
class critical_generator {
public:
    explicit critical_generator(std::uint64_t seed) : chance_(seed) { made_.seed = seed; }

    [[nodiscard]] world make() {
        do
            attempt();
        while (!every_role_fits_alone());
        return std::move(made_);
    }

private:
    void attempt() {
        const std::uint64_t seed = made_.seed;
        made_ = world{};
        made_.seed = seed;
        made_.kinds = 3;
        const auto nodes = static_cast<std::size_t>(chance_.between(2, 4));
        const auto roles = static_cast<std::size_t>(chance_.between(2, 3));
        for (std::size_t at = 0; at < nodes; ++at) {
            made_.nodes.push_back({std::string(1, static_cast<char>('a' + at)) + "-node", {}});
            made_.nodes.back().spec.allocatable[made_.pods_kind()] = 6;
        }
        world::named_gang gang;
        gang.key = "gang";
        for (std::size_t role = 0; role < roles; ++role) {
            const auto count = static_cast<std::size_t>(chance_.between(roles == 2 ? 2 : 1, 3));
            if (made_.pods.size() + count > 6)
                break;
            static_cast<void>(
                gang.spec.tree.add(vertex_index{0}, static_cast<std::int64_t>(count)));
            world::named_pod one;
            one.gang = gang.key;
            one.spec.role = vertex_index{role + 1};
            for (std::size_t kind = 0; kind < 2; ++kind)
                one.spec.request[kind] = chance_.between(1, 6);
            one.spec.request[made_.pods_kind()] = 1;
            for (std::size_t at = 0; at < count; ++at) {
                one.key = std::to_string(role) + "-" + std::to_string(at);
                auto& on = made_.nodes[chance_.below(nodes)].spec.allocatable;
                on[0] += one.spec.request[0];
                on[1] += one.spec.request[1];
                made_.pods.push_back(one);
            }
        }
        made_.gangs.push_back(std::move(gang));
        if (!chance_.percent(75))
            return;
        for (std::int64_t times = chance_.between(1, 3); times > 0; --times) {
            const std::size_t kind = chance_.below(2);
            auto& from = made_.nodes[chance_.below(nodes)].spec.allocatable[kind];
            auto& to = made_.nodes[chance_.below(nodes)].spec.allocatable[kind];
            const std::int64_t moved = std::min(from, chance_.between(1, 2));
            from -= moved;
            to += moved;
        }
    }

    [[nodiscard]] bool every_role_fits_alone() const {
        const gang_tree& tree = made_.gangs.front().spec.tree;
        if (tree.size() < 3)
            return false;
        for (std::size_t role = 1; role < tree.size(); ++role) {
            const auto pod = std::find_if(
                made_.pods.begin(), made_.pods.end(),
                [&](const world::named_pod& one) { return one.spec.role.value() == role; });
            std::int64_t room = 0;
            for (const auto& node : made_.nodes)
                room +=
                    std::min({node.spec.allocatable[0] / pod->spec.request[0],
                              node.spec.allocatable[1] / pod->spec.request[1], std::int64_t{6}});
            if (room < tree[role].min_member)
                return false;
        }
        return true;
    }

    random chance_;
    world made_;
};

/// A gang of four or six members, no two alike, on two nodes. Each node can just take either of two
/// halves of the gang, but the halves of one node are not those of the other. Half of each half
/// everywhere would always do, so no weighing of members proves a "no": only branching tells. All
/// four kinds are amounts here: with fewer, a half of the one always fits the other.
[[nodiscard]] inline world tangled_world(std::uint64_t seed) {
    random chance(seed);
    world made;
    made.seed = seed;
    made.kinds = 4;
    const std::size_t members = chance.percent(50) ? 4 : 6;
    world::named_gang gang;
    gang.key = "gang";
    const bool two_roles = chance.percent(50);
    gang.spec.tree = gang_tree(static_cast<std::int64_t>(members));
    for (std::size_t role = 0; two_roles && role < 2; ++role)
        static_cast<void>(gang.spec.tree.add(vertex_index{0}, chance.between(0, 2)));
    made.gangs.push_back(std::move(gang));
    for (std::size_t at = 0; at < members; ++at) {
        world::named_pod one;
        one.key = std::string(1, static_cast<char>('p' + at));
        one.gang = "gang";
        one.spec.role = vertex_index{two_roles ? 1 + at % 2 : 0};
        for (std::size_t kind = 0; kind < world_width; ++kind)
            one.spec.request[kind] = chance.between(1, 30);
        made.pods.push_back(std::move(one));
    }
    // Every way to halve the gang, those first that leave the least room.
    struct halving {
        resources<world_width> loads[2];
        resources<world_width> room;
        [[nodiscard]] std::int64_t size() const { return room[0] + room[1] + room[2] + room[3]; }
        [[nodiscard]] bool takes(const resources<world_width>& load) const {
            return load[0] <= room[0] && load[1] <= room[1] && load[2] <= room[2] &&
                   load[3] <= room[3];
        }
        [[nodiscard]] bool takes_half_of(const halving& other) const {
            return takes(other.loads[0]) || takes(other.loads[1]);
        }
    };
    std::vector<halving> ways;
    for (std::size_t half = 0; half < (std::size_t{1} << (members - 1)); ++half) {
        std::size_t of_first = 0;
        for (std::size_t at = 0; at < members; ++at)
            of_first += half >> at & 1U;
        if (of_first * 2 != members)
            continue;
        halving way;
        for (std::size_t at = 0; at < members; ++at)
            for (std::size_t kind = 0; kind < world_width; ++kind)
                way.loads[half >> at & 1U][kind] += made.pods[at].spec.request[kind];
        for (std::size_t kind = 0; kind < world_width; ++kind)
            way.room[kind] = std::max(way.loads[0][kind], way.loads[1][kind]);
        ways.push_back(way);
    }
    std::sort(ways.begin(), ways.end(),
              [](const halving& lhs, const halving& rhs) { return lhs.size() < rhs.size(); });
    std::pair<std::size_t, std::size_t> chosen{0, 1};
    for (std::size_t last = ways.size(); last-- > 1;)
        for (std::size_t first = last; first-- > 0;)
            if (!ways[first].takes_half_of(ways[last]) && !ways[last].takes_half_of(ways[first]))
                chosen = {first, last};
    const resources<world_width> rooms[2] = {ways[chosen.first].room, ways[chosen.second].room};
    for (std::size_t at = 0; at < 2; ++at) {
        made.nodes.push_back({at == 0 ? "a-node" : "b-node", {}});
        made.nodes.back().spec.allocatable = rooms[at];
    }
    return made;
}

/// Case `number` of a run with this seed: each has a seed of its own, under which it can be made
/// again alone.
[[nodiscard]] inline std::uint64_t case_seed(std::uint64_t seed, std::size_t number) {
    return random(seed ^ (static_cast<std::uint64_t>(number) << 20U)).next();
}
[[nodiscard]] inline world random_world(std::uint64_t seed) {
    return world_generator(seed).make();
}
[[nodiscard]] inline world close_world(std::uint64_t seed) {
    return world_generator(seed).with_topology().make();
}
[[nodiscard]] inline world critical_world(std::uint64_t seed) {
    return critical_generator(seed).make();
}

/// Gives cards to most nodes of a world, and demands to most of its pods.
[[nodiscard]] inline world with_cards(world made) {
    random chance(made.seed * 7 + 3);
    for (auto& each : made.nodes)
        if (chance.percent(85))
            each.spec.devices = card_rule::stock(static_cast<std::uint32_t>(chance.between(1, 3)));
    for (auto& each : made.pods)
        if (chance.percent(70)) {
            const bool whole = chance.percent(25);
            const auto number = static_cast<std::uint32_t>(chance.percent(80) ? 1 : 2);
            const auto quarters =
                whole ? std::uint32_t{4} : static_cast<std::uint32_t>(chance.between(1, 3));
            each.spec.where.claims.devices = card_rule::demand(number, quarters);
        }
    return made;
}

[[nodiscard]] inline world carded_world(std::uint64_t seed) {
    return with_cards(random_world(seed));
}
[[nodiscard]] inline world critical_carded_world(std::uint64_t seed) {
    return with_cards(critical_world(seed));
}
[[nodiscard]] inline world tangled_carded_world(std::uint64_t seed) {
    return with_cards(tangled_world(seed));
}
[[nodiscard]] inline world close_carded_world(std::uint64_t seed) {
    return with_cards(close_world(seed));
}

} // namespace testing
} // namespace v0_1
} // namespace muster
