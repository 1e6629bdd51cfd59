// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/explain/explain.hpp>
#include <muster/testing/check_placements.hpp>
#include <muster/testing/verifier.hpp>
#include <support/brute_force.hpp>
#include <support/cases.hpp>
#include <support/naive_scheduler.hpp>

namespace admission_properties_test {

namespace {

using namespace muster;
using namespace muster::testing;
using oracle = brute_force<world_traits>;
using rule = rules<world_width>;

std::string name(answer kind) {
    static constexpr const char* names[] = {"admitted", "waiting", "never", "undecided"};
    return names[static_cast<std::size_t>(kind)];
}
std::string name(gate at) {
    return "gate " + std::to_string(static_cast<int>(at));
}

/// A gang that has all it wants asks nothing of its queue.
bool queue_refuses(const world_state& known, gang_index which) {
    const auto& group = known[which];
    bool wants_something = false;
    for (const auto& [key, pod] : known.pod_keys())
        wants_something = wants_something || (known[pod].gang == which && is_waiting(known[pod]));
    if (!group.queue || !wants_something)
        return false;
    const auto& queue = known[*group.queue];
    if (!queue.present)
        return true;
    const auto& spec = queue.spec;
    if (!spec.tenants || !selects(*spec.tenants, group.spec.tenant))
        return true;
    bool holds_something = false;
    for (const auto& [key, pod] : known.pod_keys())
        holds_something = holds_something || (known[pod].gang == which && takes_room(known[pod]));
    bool closed = false;
    for (const queue_index at :
         queue_view(known, certificate_scope::empty_cluster).upwards(*group.queue))
        closed = closed || known[at].spec.closed;
    return closed && !holds_something;
}

/// The answer by definition; the state is as it was when the gang was asked.
struct expected {
    answer kind = answer::waiting;
    gate at = gate::none;
    bool searched = false;
};

bool has_unmodelled(const world_state& known, gang_index which) {
    const auto& members = known[which].members;
    return std::any_of(members.begin(), members.end(), [&](pod_index member) {
        return known[member].placeable() && known.where(member).value.unsupported;
    });
}

expected expect(const world_state& known, gang_index which) {
    oracle now(known, which);
    oracle emptied(known, which, certificate_scope::empty_cluster);
    if (known[which].spec.fault != gang_fault::none)
        return {known[which].spec.fault == gang_fault::malformed ? answer::never : answer::waiting,
                gate::group, false};
    if (!now.enough_members())
        return {answer::waiting, gate::members, false};
    if (queue_refuses(known, which))
        return {answer::waiting, gate::queue, false};
    if (!now.enough_supported())
        return {answer::waiting, has_unmodelled(known, which) ? gate::unsupported : gate::volumes,
                false};
    if (now.fits())
        return {answer::admitted, gate::none, false};
    oracle& speaks = emptied.fits() ? now : emptied;
    return {emptied.fits() ? answer::waiting : answer::never,
            speaks.within_quota() ? gate::space : gate::quota, true};
}

std::string check_proof(const world_state& known, const decision& made) {
    const auto& proof = made.outcome.proof;
    if (!proof)
        return "no proof: a negative answer of the search comes without one";
    const bool never = made.outcome.kind == answer::never;
    if ((proof->scope == certificate_scope::empty_cluster) != never)
        return "proof of the wrong scope:";
    const proof_check result = verify(known, made.gang, *proof);
    return result == proof_check::valid     ? ""
           : result == proof_check::invalid ? "the verifier refuses a proof:"
                                            : "a proof is too large:";
}

/// Every answer of one cycle, each against the state as it stood when it was made.
std::string check_answers(const world& from) {
    world_state known = to_state(from);
    const cycle_result result = preview(known, 0, policy<>{}, {}, {true});
    world_state at_end = known;
    for (const decision& made : result.decisions)
        observe_bound(at_end, made);
    for (const decision& made : result.decisions) {
        const std::string who = known.key(made.gang) + ": ";
        const expected should = expect(known, made.gang);
        if (made.outcome.at == gate::order)
            continue;
        if (made.outcome.kind != should.kind)
            return "answer " + name(made.outcome.kind) + " for " + name(should.kind) + ": " + who;
        // Those that start later may use the quota up.
        const bool used_up = should.at == gate::space && made.outcome.at == gate::quota &&
                             !oracle(at_end, made.gang).within_quota();
        if (made.outcome.at != should.at && !used_up)
            return name(made.outcome.at) + " for " + name(should.at) + ": " + who;
        if (should.searched && should.kind == answer::waiting && !made.outcome.could_start)
            return "could start: not said of " + who;
        if (should.searched)
            if (const std::string fault = check_proof(known, made); !fault.empty())
                return fault + who;
        if (const std::string fault = fault_of(known, made); !fault.empty())
            return fault + ": " + who;
        observe_bound(known, made);
    }
    // Placements only take: what was proven stays proven.
    for (const decision& made : result.decisions)
        if (made.outcome.proof &&
            verify(known, made.gang, *made.outcome.proof) != proof_check::valid)
            return "later: a proof does not hold after further placements";
    return {};
}

bool has_optional_subgroups(const gang_tree& tree) {
    for (std::size_t at = 0; at < tree.size(); ++at)
        if (tree[at].min_subgroups &&
            *tree[at].min_subgroups < static_cast<std::int64_t>(tree[at].children))
            return true;
    return false;
}

template<class Score>
std::string check_greedy(const world& from, naive_score score) {
    world_state known = to_state(from);
    const cycle_result result = preview(known, 0, policy<Score>{}, {}, {true});
    for (const decision& made : result.decisions) {
        if (made.outcome.kind == answer::admitted) {
            const auto by_hand =
                naive_scheduler<world_traits>(known, made.gang, score).whole_gang();
            // Behind a gang that strict order waits for, surplus waits too.
            const auto queue = known[made.gang].queue;
            const bool behind = queue && known[*queue].spec.strict_order && made.placements.empty();
            // A subgroup beyond the minima may need the search, which by hand is not done.
            const bool may_search = has_optional_subgroups(known[made.gang].spec.tree);
            if (by_hand && !behind && !may_search &&
                !std::ranges::equal(*by_hand, made.placements)) {
                std::string list;
                for (const placement& one : *by_hand)
                    list += known.key(one.pod) + "@" + known.key(one.node) + " ";
                list += "| ";
                for (const placement& one : made.placements)
                    list += known.key(one.pod) + "@" + known.key(one.node) + " ";
                return "greedy differs from naive: " + known.key(made.gang) + " " + list;
            }
        }
        observe_bound(known, made);
    }
    return {};
}

// ---- reasons -----------------------------------------------------------------------------------

std::optional<rule_set> rule_of(const reason& one) {
    switch (one.code) {
    case reason_code::insufficient_resource:
        return rule::resource(one.resource->value());
    case reason_code::quota_exceeded:
        return rule::quota(one.resource->value());
    case reason_code::node_selector_mismatch:
        return rule::selector;
    case reason_code::untolerated_taint:
        return rule::taints;
    case reason_code::node_unschedulable:
        return rule::cordon;
    case reason_code::topology_fragmented:
        return rule::topology(one.together->value());
    case reason_code::host_port_taken:
        return rule::ports;
    case reason_code::volume_out_of_reach:
        return rule::volumes;
    case reason_code::devices_taken:
        return rule::devices;
    default:
        return std::nullopt;
    }
}

/// Some role alone lacks fewer members without the constraint.
bool relieves_a_role(const oracle& of, rule_set constraint) {
    const auto& view = of.view();
    for (std::size_t role = 0; role < view.tree->size(); ++role) {
        const std::int64_t needed = (*view.tree)[role].min_member - view.holding[role];
        if (!view.tree->is_leaf(role) || needed <= 0)
            continue;
        if (std::min(needed, of.room_alone(role, rule::all & ~constraint)) >
            std::min(needed, of.room_alone(role, rule::all)))
            return true;
    }
    return false;
}

std::string check_reasons_of(oracle of, const std::vector<reason>& reasons) {
    if (reasons.empty())
        return "no reason:";
    rule_set named = 0;
    rule_set blocking = 0;
    rule_set together = 0;
    rule_set contributing = 0;
    for (std::size_t at = 0; at < reasons.size(); ++at) {
        const reason& one = reasons[at];
        const auto constraint = rule_of(one);
        if (!constraint)
            return "a reason names no constraint: code " +
                   std::to_string(static_cast<int>(one.code));
        // Of one kind several ceilings may block, each of another queue.
        const bool another_ceiling =
            at > 0 && one.code == reason_code::quota_exceeded &&
            one.kind == reason_kind::blocking && reasons[at - 1].resource == one.resource &&
            reasons[at - 1].code == one.code &&
            std::tuple(reasons[at - 1].queue, reasons[at - 1].non_preemptible) !=
                std::tuple(one.queue, one.non_preemptible);
        if (named & *constraint && !another_ceiling)
            return "a constraint is named twice:";
        if (one.code == reason_code::quota_exceeded && one.kind == reason_kind::blocking &&
            one.amount_left >= one.amount_needed)
            return "a ceiling blocks that is high enough:";
        if (one.not_minimal)
            return "a set is not minimal on a small case:";
        named |= *constraint;
        (one.kind == reason_kind::blocking            ? blocking
         : one.kind == reason_kind::blocking_together ? together
                                                      : contributing) |= *constraint;
        if (at > 0 && !another_ceiling &&
            std::tuple(reasons[at - 1].kind, *rule_of(reasons[at - 1])) >=
                std::tuple(one.kind, *constraint))
            return "reasons are out of order:";
    }
    for (rule_set each = 1; each <= rule::devices; each <<= 1U)
        // A constraint that nobody is under need not be listed where nothing fits anyway.
        if (of.fits(0) && ((blocking & each) != 0) == of.fits(each))
            return std::string(blocking & each ? "blocking although it fits alone: bit "
                                               : "not blocking although it alone stops: bit ") +
                   std::to_string(each);
    if (blocking && together)
        return "blocking and blocking together:";
    if (!blocking) {
        if (!together)
            return "nothing blocks:";
        if (of.fits(together))
            return "blocking together yet it fits: bits " + std::to_string(together);
        rule_set kept = rule::all;
        for (rule_set each = rule::devices; each > 0; each >>= 1U) {
            if ((together & each) && !of.fits(together & ~each))
                return "blocking together with one to spare: bit " + std::to_string(each);
            if (!of.fits(kept & ~each))
                kept &= ~each;
        }
        if (kept != together)
            return "blocking together is another set: bits " + std::to_string(together) + " for " +
                   std::to_string(kept);
    }
    for (rule_set each = 1; each <= rule::devices; each <<= 1U) {
        const bool should = relieves_a_role(of, each) || of.fits(rule::all & ~each);
        if (contributing & each && !should)
            return "contributing without effect: bit " + std::to_string(each);
        if (should && !(named & each))
            return "not contributing although it does: bit " + std::to_string(each);
    }
    return {};
}

/// The first reason is about volumes. The others must be those of the gang if all volumes were
/// ready.
std::string check_beside_volumes(world ready, const std::string& gang,
                                 const std::vector<reason>& reasons) {
    for (auto& pod : ready.pods)
        pod.spec.where.volume_not_ready = false;
    const world_state known = to_state(ready);
    oracle of(known, known.find_gang(gang)->index);
    if (of.fits())
        return reasons.size() == 1 ? "" : "reasons beside volumes although the gang would fit:";
    return check_reasons_of(of, {reasons.begin() + 1, reasons.end()});
}

/// With the nodes one by one, or in groups.
std::string check_reasons(const world& from, std::size_t group_from) {
    world_state known = to_state(from);
    explain_options options;
    options.group_from = group_from;
    for (const auto& [key, which] : known.gang_keys()) {
        const expected should = expect(known, which);
        options.scope.reset();
        const std::vector<reason> now = explain(known, which, options);
        if (should.kind == answer::admitted) {
            if (!now.empty())
                return "reasons for a gang that fits: " + key;
            continue;
        }
        if (!should.searched) {
            if (now.empty() || now.front().kind != reason_kind::blocking)
                return "a gate gives one reason: " + key;
            if (now.front().code == reason_code::volume_not_ready) {
                if (std::string fault = check_beside_volumes(from, key, now); !fault.empty())
                    return "beside volumes, " + fault + " " + key;
            } else if (now.size() != 1) {
                return "a gate gives one reason: " + key;
            }
            continue;
        }
        std::string fault = check_reasons_of(oracle(known, which), now);
        if (fault.empty() && should.kind == answer::never) {
            options.scope = certificate_scope::empty_cluster;
            fault = check_reasons_of(oracle(known, which, certificate_scope::empty_cluster),
                                     explain(known, which, options));
            if (!fault.empty())
                fault = "emptied, " + fault;
        }
        if (!fault.empty())
            return fault + " " + key;
    }
    return {};
}
std::string check_reasons_by_node(const world& from) {
    return check_reasons(from, std::numeric_limits<std::size_t>::max());
}
std::string check_reasons_by_group(const world& from) {
    return check_reasons(from, 0);
}

} // namespace

TEST_CASE("an answer is what trying everything gives, and its proof holds") {
    CHECK(count_faults("answers", 6'000, random_world, check_answers) == 0);
}

TEST_CASE("near-critical gangs are decided as trying everything decides them") {
    std::size_t feasible = 0;
    std::size_t all = 0;
    const auto check = [&](const world& from) {
        const world_state known = to_state(from);
        ++all;
        if (!from.gangs.empty())
            feasible += oracle(known, known.find_gang(from.gangs.front().key)->index).fits();
        return check_answers(from);
    };
    CHECK(count_faults("near-critical answers", 4'000, critical_world, check) == 0);
    std::printf("near-critical: %zu of %zu feasible\n", feasible, all);
    CHECK(feasible * 10 >= all * 3);
    CHECK((all - feasible) * 10 >= all * 3);
}

TEST_CASE("gangs that must stand together are decided as trying everything decides them") {
    std::size_t split = 0;
    std::size_t kept_apart = 0;
    std::size_t spans_domains = 0;
    std::size_t searched = 0;
    const auto check = [&](const world& from) {
        const world_state known = to_state(from);
        for (const auto& [key, which] : known.gang_keys()) {
            oracle all(known, which);
            if (!all.fits() && all.fits(rule::all & ~rule::topologies))
                ++kept_apart;
            for (const reason& one : explain(known, which))
                spans_domains += one.spans_domains ? 1 : 0;
        }
        const cycle_result result = preview(known, 0, policy<>{}, {}, {true});
        for (const decision& made : result.decisions) {
            split += made.outcome.proof &&
                     std::ranges::any_of(made.outcome.proof->vertices, [](const auto& vertex) {
                         return vertex.together.has_value();
                     });
            searched += made.outcome.kind == answer::admitted && made.outcome.steps > 0;
        }
        return check_answers(from);
    };
    CHECK(count_faults("topology answers", 3'000, close_world, check) == 0);
    std::printf("topology: %zu gangs fit but for it, %zu proofs split on domains, %zu gangs torn, "
                "%zu placed by the search\n",
                kept_apart, split, spans_domains, searched);
    CHECK(kept_apart > 0);
    CHECK(split > 0);
    CHECK(spans_domains > 0);
    CHECK(searched > 0);
}

TEST_CASE("gangs that only branching decides are decided, and their proofs hold") {
    std::size_t branched = 0;
    const auto check = [&](const world& from) {
        const cycle_result result = preview(to_state(from), 0);
        for (const decision& made : result.decisions)
            branched += made.outcome.proof && made.outcome.proof->vertices.size() > 1;
        return check_answers(from);
    };
    CHECK(count_faults("tangled answers", 3'000, tangled_world, check) == 0);
    std::printf("tangled: %zu proofs branch\n", branched);
    CHECK(branched > 0);
}

TEST_CASE("decisions about gangs that share devices agree with an exhaustive search") {
    std::size_t kept_out = 0;
    std::size_t searched = 0;
    std::size_t branched = 0;
    const auto check = [&](const world& from) {
        const world_state known = to_state(from);
        for (const auto& [key, which] : known.gang_keys()) {
            oracle all(known, which);
            kept_out += !all.fits() && all.fits(rule::all & ~rule::devices);
        }
        for (const decision& made : preview(known, 0, policy<>{}, {}, {true}).decisions) {
            searched += made.outcome.kind == answer::admitted && made.outcome.steps > 0;
            branched += made.outcome.proof && made.outcome.proof->vertices.size() > 1;
        }
        return check_answers(from);
    };
    CHECK(count_faults("devices", 6'000, carded_world, check) == 0);
    CHECK(count_faults("near-critical devices", 3'000, critical_carded_world, check) == 0);
    CHECK(count_faults("topology devices", 2'000, close_carded_world, check) == 0);
    CHECK(count_faults("tangled devices", 2'000, tangled_carded_world, check) == 0);
    std::printf(
        "devices: %zu gangs fit but for them, %zu placed by the search, %zu proofs branch\n",
        kept_out, searched, branched);
    CHECK(kept_out > 0);
    CHECK(searched > 0);
    CHECK(branched > 0);
}

TEST_CASE("gangs that share devices are placed as if pod after pod were placed") {
    CHECK(count_faults("best fit with devices", 2'000, carded_world, [](const world& from) {
              return check_greedy<best_fit>(from, naive_score::best_fit);
          }) == 0);
    CHECK(count_faults("worst fit with devices", 2'000, carded_world, [](const world& from) {
              return check_greedy<worst_fit>(from, naive_score::worst_fit);
          }) == 0);
}

/// The same gangs on a cluster with more of everything.
world enlarged(world from, testing::random& chance) {
    for (auto& [key, spec] : from.nodes) {
        for (std::size_t kind = 0; kind < from.kinds; ++kind)
            spec.allocatable[kind] += chance.between(0, 3);
        spec.unschedulable = spec.unschedulable && chance.percent(50);
        if (chance.percent(50))
            spec.taints.clear();
    }
    for (auto& [key, spec, parent] : from.queues)
        for (std::size_t kind = 0; kind < world_width; ++kind)
            if (const auto top = spec.quota[kind_id{kind}])
                spec.quota.set(kind_id{kind}, *top + chance.between(0, 6));
    return from;
}

TEST_CASE("a proof holds no more where the gang fits") {
    std::size_t overturned = 0;
    const auto check = [&](const world& from) -> std::string {
        testing::random chance(from.seed);
        const cycle_result result = preview(to_state(from), 0);
        const world_state larger = to_state(enlarged(from, chance));
        for (const decision& made : result.decisions) {
            if (!made.outcome.proof || !oracle(larger, made.gang, made.outcome.proof->scope).fits())
                continue;
            ++overturned;
            if (verify(larger, made.gang, *made.outcome.proof) != proof_check::invalid)
                return "a proof holds though the gang fits: " + larger.key(made.gang);
        }
        return {};
    };
    CHECK(count_faults("overturned proofs", 1'000, random_world, check) == 0);
    CHECK(count_faults("overturned tangled proofs", 500, tangled_world, check) == 0);
    CHECK(count_faults("overturned topology proofs", 500, close_world, check) == 0);
    std::printf("overturned: %zu proofs\n", overturned);
    CHECK(overturned > 0);
}

TEST_CASE("where pod after pod succeeds, a gang stands where it would put it") {
    CHECK(count_faults("best fit", 2'000, random_world, [](const world& from) {
              return check_greedy<best_fit>(from, naive_score::best_fit);
          }) == 0);
    CHECK(count_faults("worst fit", 2'000, random_world, [](const world& from) {
              return check_greedy<worst_fit>(from, naive_score::worst_fit);
          }) == 0);
    CHECK(count_faults("best fit in a topology", 2'000, close_world, [](const world& from) {
              return check_greedy<best_fit>(from, naive_score::best_fit);
          }) == 0);
    CHECK(count_faults("worst fit in a topology", 2'000, close_world, [](const world& from) {
              return check_greedy<worst_fit>(from, naive_score::worst_fit);
          }) == 0);
    CHECK(count_faults("first fit", 2'000, random_world, [](const world& from) {
              return check_greedy<first_fit>(from, naive_score::first_fit);
          }) == 0);
}

TEST_CASE("reasons mean what their words say") {
    CHECK(count_faults("reasons", 3'000, random_world, check_reasons_by_node) == 0);
    CHECK(count_faults("topology reasons", 2'000, close_world, check_reasons_by_node) == 0);
    CHECK(count_faults("near-critical reasons", 1'000, critical_world, check_reasons_by_node) == 0);
    CHECK(count_faults("device reasons", 3'000, carded_world, check_reasons_by_node) == 0);
}

TEST_CASE("reasons that are found on groups of nodes mean what their words say") {
    CHECK(count_faults("reasons by group", 3'000, random_world, check_reasons_by_group) == 0);
    CHECK(count_faults("topology reasons by group", 2'000, close_world, check_reasons_by_group) ==
          0);
    CHECK(count_faults("near-critical reasons by group", 1'000, critical_world,
                       check_reasons_by_group) == 0);
    CHECK(count_faults("device reasons by group", 3'000, carded_world, check_reasons_by_group) ==
          0);
}

} // namespace admission_properties_test
