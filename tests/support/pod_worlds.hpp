// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <muster/testing/random.hpp>
#include <support/world.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// Small clusters whose pods carry terms on one another: few labels and values, so that terms often
/// speak of somebody, and little room, so that they often decide.
class pod_world_generator {
public:
    explicit pod_world_generator(std::uint64_t seed) : chance_(seed) { made_.seed = seed; }

    [[nodiscard]] world make() {
        made_.kinds = 2;
        for (std::int64_t at = chance_.between(2, 4); at > 0; --at)
            add_node();
        if (chance_.percent(25))
            add_queue();
        for (std::int64_t at = chance_.between(1, 3); at > 0; --at)
            add_gang();
        return std::move(made_);
    }

private:
    [[nodiscard]] std::string one_of(const char* names, std::size_t count) {
        return std::string(1, names[chance_.below(count)]);
    }

    void add_node() {
        world::named_node one;
        one.key = std::string(1, "dbca"[made_.nodes.size()]) + "-node";
        auto& spec = one.spec;
        spec.name = one.key;
        spec.allocatable[0] = chance_.between(2, 6);
        spec.allocatable[made_.pods_kind()] = chance_.between(1, 5);
        if (!chance_.percent(8))
            spec.labels.set("host", one.key);
        if (!chance_.percent(10))
            spec.labels.set("zone", one_of("xyz", 2 + chance_.below(2)));
        if (chance_.percent(10))
            spec.taints.push_back({"dedicated", "", taint_effect::no_schedule});
        spec.unschedulable = chance_.percent(4);
        made_.nodes.push_back(std::move(one));
    }

    void add_queue() {
        world::named_queue one;
        one.key = "queue";
        if (chance_.percent(50))
            one.spec.quota.set(kind_id{0}, chance_.between(3, 9));
        if (chance_.percent(30))
            one.spec.nodes.requirements.push_back({"zone", label_operator::in, {one_of("xy", 2)}});
        made_.queues.push_back(std::move(one));
    }

    [[nodiscard]] gang_tree tree() {
        const std::int64_t shape = chance_.between(0, 99);
        if (shape < 45)
            return gang_tree(chance_.between(1, 4));
        gang_tree made(chance_.percent(30) ? chance_.between(0, 4) : 0);
        const std::int64_t roles = chance_.between(2, 3);
        for (std::int64_t role = 0; role < roles; ++role)
            static_cast<void>(made.add(vertex_index{0}, chance_.between(0, 2)));
        if (chance_.percent(20))
            made.require_subgroups(vertex_index{0}, chance_.between(1, roles));
        return made;
    }

    void add_gang() {
        world::named_gang one;
        one.key = std::string(1, "tsv"[made_.gangs.size()]) + "-gang";
        one.spec.tree = tree();
        one.spec.created = chance_.between(1, 3);
        one.spec.tenant.set("team", chance_.percent(75) ? "red" : "blue");
        if (!made_.queues.empty() && chance_.percent(60))
            one.spec.queue = made_.queues.front().key;
        std::vector<std::size_t> leaves;
        for (std::size_t at = 0; at < one.spec.tree.size(); ++at)
            if (one.spec.tree.is_leaf(at))
                leaves.push_back(at);
        // A role's members are mostly alike, as pods from one template are.
        std::vector<pod<world_width>> templates;
        for (std::size_t at = 0; at < leaves.size(); ++at)
            templates.push_back(pod_template());
        const auto members = static_cast<std::size_t>(chance_.between(2, 5));
        for (std::size_t at = 0; at < members; ++at) {
            const std::size_t leaf = at < leaves.size() ? at : chance_.below(leaves.size());
            world::named_pod made;
            made.gang = one.key;
            made.key = one.key + std::string(1, static_cast<char>('z' - at));
            made.spec = chance_.percent(85) ? templates[leaf] : pod_template();
            made.spec.role = vertex_index{leaves[leaf]};
            made.spec.created = chance_.between(1, 3);
            if (chance_.percent(25)) {
                made.spec.phase = pod_phase::running;
                made.on = made_.nodes[chance_.below(made_.nodes.size())].key;
                made.spec.terminating = chance_.percent(15);
            }
            made_.pods.push_back(std::move(made));
        }
        made_.gangs.push_back(std::move(one));
    }

    [[nodiscard]] pod<world_width> pod_template() {
        pod<world_width> made;
        made.request[0] = chance_.between(0, 3);
        made.request[made_.pods_kind()] = 1;
        if (chance_.percent(85))
            made.labels.set("app", one_of("abc", 3));
        if (chance_.percent(20))
            made.where.tolerations.push_back({"dedicated", std::nullopt, std::nullopt});
        if (chance_.percent(12))
            made.where.selector.requirements.push_back(
                {"zone", label_operator::in, {one_of("xy", 2)}});
        if (chance_.percent(30))
            return made;
        pod_terms terms;
        const std::string mine =
            made.labels.find("app") ? *made.labels.find("app") : std::string("a");
        const auto which = [&] {
            pod_selector one;
            if (!chance_.percent(8))
                one.labels.requirements.push_back(
                    {"app",
                     chance_.percent(10) ? label_operator::not_in : label_operator::in,
                     {chance_.percent(60) ? mine : one_of("abc", 3)}});
            if (chance_.percent(60))
                one.tenants = std::vector<label_selector>{
                    {{{"team", label_operator::in, {chance_.percent(80) ? "red" : "blue"}}}}};
            else if (chance_.percent(3))
                one.tenants.emplace();
            return one;
        };
        const auto key = [&] { return chance_.percent(55) ? "zone" : "host"; };
        const std::int64_t kind = chance_.between(0, 99);
        if (kind < 35)
            terms.affinity.push_back({which(), key()});
        if (kind < 35 && chance_.percent(15))
            terms.affinity.push_back({which(), key()});
        if ((kind >= 25 && kind < 65) || chance_.percent(5))
            terms.anti_affinity.push_back({which(), key()});
        for (std::int64_t more = kind < 60 ? 0 : chance_.between(1, 2); more > 0; --more) {
            spread_term one;
            one.pods = which();
            one.topology = more == 2 ? "host" : key();
            one.max_skew = static_cast<std::int32_t>(chance_.between(1, 2));
            one.required = chance_.percent(80);
            if (one.required && chance_.percent(25))
                one.min_domains = static_cast<std::int32_t>(chance_.between(2, 3));
            one.honor_affinity = !chance_.percent(25);
            one.honor_taints = chance_.percent(25);
            terms.spread.push_back(std::move(one));
        }
        if (chance_.percent(20))
            terms.preferred.push_back(
                {static_cast<std::int32_t>(chance_.between(-100, 100)), {which(), key()}});
        if (terms.any())
            made.where.pods = std::move(terms);
        return made;
    }

    random chance_;
    world made_;
};

[[nodiscard]] inline world pod_world(std::uint64_t seed) {
    return pod_world_generator(seed).make();
}

} // namespace testing
} // namespace v0_1
} // namespace muster
