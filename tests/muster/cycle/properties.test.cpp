// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/testing/check_placements.hpp>
#include <support/brute_force.hpp>
#include <support/cases.hpp>
#include <support/pod_worlds.hpp>

#include "random_events.hpp"

namespace cycle_properties_test {

namespace {

using namespace muster;
using namespace muster::testing;

cycle_result everything(world_state& known) {
    return cycle(known, 0, policy<>{}, {}, {true});
}

/// A result in the caller's words, a line per gang.
std::string by_keys(const world_state& known, const cycle_result& result) {
    std::string out;
    for (const decision& made : result.decisions) {
        out += known.key(made.gang) + " " + std::to_string(static_cast<int>(made.outcome.kind)) +
               "/" + std::to_string(static_cast<int>(made.outcome.at)) +
               (made.outcome.could_start ? " could start" : "");
        for (const placement& one : made.placements)
            out += " " + known.key(one.pod) + "@" + known.key(one.node);
        out += "; ";
    }
    return out;
}

/// The accounts are what the records add up to.
std::string check_accounts(const world_state& known) {
    for (const auto& [key, which] : known.gang_keys()) {
        const auto view = view_of(known, which, certificate_scope::free_now);
        for (const auto& node : view.nodes) {
            auto ports = node.ports;
            auto devices = node.devices;
            std::sort(devices.begin(), devices.end());
            std::sort(ports.begin(), ports.end());
            if (known.accounts().free(node.node) != node.free ||
                known.accounts().claims(node.node).ports() != ports ||
                known.accounts().claims(node.node).devices() != devices)
                return "accounts: node " + known.key(node.node);
        }
    }
    for (const certificate_scope scope :
         {certificate_scope::free_now, certificate_scope::empty_cluster})
        for (const auto& [key, which] : known.queue_keys()) {
            const queue_view queues(known, scope);
            const bool now = scope == certificate_scope::free_now;
            const auto left = known.accounts().headroom(
                queue_charge(which), now ? occupancy::current : occupancy::empty_cluster);
            for (std::size_t kind = 0; kind < world_width; ++kind)
                if ((now && known.accounts().used(which)[kind] != queues.used(which, kind)) ||
                    left[kind_id{kind}] != queues.room(which, kind))
                    return "accounts: queue " + key;
        }
    return {};
}

std::string check_cycle(const world& from) {
    const world_state before = to_state(from);
    world_state known = before;
    const cycle_result foreseen = preview(before, 0, policy<>{}, {}, {true});
    if (before.accounts() != to_state(from).accounts())
        return "preview: it changed the state";
    const cycle_result result = everything(known);
    if (by_keys(before, foreseen) != by_keys(known, result))
        return "preview: it differs from the cycle";
    if (result.decisions.size() != before.gang_keys().size())
        return "listing: not every gang has one answer";
    if (const std::string fault = check_placements(before, result); !fault.empty())
        return fault;
    if (const std::string fault = check_accounts(known); !fault.empty())
        return fault;
    for (const decision& made : result.decisions) {
        for (const placement& one : made.placements)
            if (!known[one.pod].assumed || known[one.pod].node != one.node)
                return "commit: a pod placed is not assumed there";
        if (made.outcome.kind == answer::waiting &&
            (made.outcome.at == gate::space || made.outcome.at == gate::quota))
            if (brute_force<world_traits>(known, made.gang).fits())
                return "left over: a waiting gang fits what the cycle left: " +
                       known.key(made.gang);
    }
    const auto accounts = known.accounts();
    const cycle_result again = cycle(known, 0);
    if (!again.decisions.empty() || known.accounts() != accounts)
        return "again: a cycle right after a cycle changes something: " + by_keys(known, again);
    return {};
}

/// A refused gang leaves no trace, and an admitted one none that rolling back does not remove.
std::string check_refusals(const world& from) {
    world_state known = to_state(from);
    const auto before = known.accounts();
    const auto weights = weigh(known.accounts(), known.pods_kind());
    for (const auto& [key, which] : known.gang_keys()) {
        plan<world_width> tentative(known.tentative());
        const verdict outcome = admit(known, which, tentative, weights, best_fit{}, 1 << 20);
        if (outcome.kind != answer::admitted &&
            (tentative.size() > 0 || known.accounts() != before))
            return "refused: the ledger is not as before for " + key;
        tentative.rollback({});
        if (known.accounts() != before)
            return "rolled back: the ledger is not as before for " + key;
    }
    return {};
}

// ---- the order in which gangs are asked --------------------------------------------------------

struct rank_of_queue {
    std::int64_t priority = 0;
    /// The largest use over quota, as a fraction.
    int128 used = 0;
    int128 quota = 1;
    std::optional<std::string> key;

    [[nodiscard]] bool before(const rank_of_queue& other) const {
        if (priority != other.priority)
            return priority > other.priority;
        const auto share = [](const rank_of_queue& of) {
            return std::pair(of.quota == 0 && of.used > 0, of.quota == 0);
        };
        if (share(*this).first != share(other).first)
            return share(other).first;
        if (!share(*this).first) {
            const int128 mine = share(*this).second ? 0 : used * std::max<int128>(1, other.quota);
            const int128 theirs = share(other).second ? 0 : other.used * std::max<int128>(1, quota);
            if (mine != theirs)
                return mine < theirs;
        }
        return key < other.key;
    }
};

/// Of a queue with all below it, or of its own gangs alone.
rank_of_queue rank(const world_state& known, queue_index queue, bool own) {
    rank_of_queue found;
    if (!own)
        found.key = known.key(queue);
    found.priority = known[queue].spec.priority;
    const queue_view queues(known, certificate_scope::free_now);
    for (std::size_t kind = 0; kind < world_width; ++kind) {
        const auto quota = known[queue].spec.quota[kind_id{kind}];
        if (!quota)
            continue;
        const int128 used = own ? queues.own(queue, kind) : queues.used(queue, kind);
        const rank_of_queue candidate{0, used, *quota, {}};
        const rank_of_queue so_far{0, found.used, found.quota, {}};
        if (so_far.before(candidate)) {
            found.used = used;
            found.quota = *quota;
        }
    }
    return found;
}

/// The queue whose line goes first of those below `above` in which somebody is left; "none" is the
/// line of gangs without a queue.
using line_of_queue = std::optional<queue_index>;
std::optional<line_of_queue> first_line(const world_state& known,
                                        const std::vector<gang_index>& left, line_of_queue above) {
    std::optional<line_of_queue> first;
    rank_of_queue best;
    const auto offer = [&](const line_of_queue& line, const rank_of_queue& mine) {
        if (first && !mine.before(best))
            return;
        first = line;
        best = mine;
    };
    if (std::any_of(left.begin(), left.end(),
                    [&](gang_index each) { return known[each].queue == above; }))
        offer(above, above ? rank(known, *above, true) : rank_of_queue{});
    for (const auto& [key, queue] : known.queue_keys())
        if (known[queue].parent == above)
            if (const auto line = first_line(known, left, queue))
                offer(*line, rank(known, queue, false));
    return first;
}

std::string check_order(const world& from) {
    world_state known = to_state(from);
    const cycle_result result = preview(known, 0, policy<>{}, {}, {true});
    std::vector<gang_index> left;
    for (const auto& [key, which] : known.gang_keys())
        left.push_back(which);
    std::vector<queue_index> held_up;
    for (const decision& made : result.decisions) {
        const auto line = first_line(known, left, std::nullopt);
        const auto next = std::min_element(left.begin(), left.end(), [&](auto lhs, auto rhs) {
            const auto& one = known[lhs].spec;
            const auto& two = known[rhs].spec;
            if ((known[lhs].queue == *line) != (known[rhs].queue == *line))
                return known[lhs].queue == *line;
            if (one.priority != two.priority)
                return one.priority > two.priority;
            if (one.created != two.created)
                return one.created < two.created;
            return known.key(lhs) < known.key(rhs);
        });
        if (next == left.end() || *next != made.gang)
            return "order: " + known.key(made.gang) + " is asked before its turn";
        left.erase(next);
        const auto& queue = known[made.gang].queue;
        bool newcomer = true;
        for (const auto& [key, pod] : known.pod_keys())
            newcomer = newcomer && (known[pod].gang != made.gang || !is_member(known[pod]) ||
                                    is_waiting(known[pod]));
        const bool behind =
            newcomer && queue && std::count(held_up.begin(), held_up.end(), *queue) > 0;
        if (behind != (made.outcome.at == gate::order))
            return "strict order: " + known.key(made.gang);
        const bool stopped = made.outcome.kind == answer::waiting &&
                             (made.outcome.at == gate::space || made.outcome.at == gate::quota);
        if (queue && stopped && known[*queue].spec.strict_order)
            held_up.push_back(*queue);
        observe_bound(known, made);
    }
    return {};
}

// ---- the same state by other ways --------------------------------------------------------------

/// The same kind of objects with other values, and some that are not in the world at all.
world disturbed(const world& from, testing::random& chance) {
    world other = from;
    for (auto& [key, spec] : other.nodes) {
        for (std::size_t kind = 0; kind < from.kinds; ++kind)
            spec.allocatable[kind] += chance.between(0, 5);
        spec.unschedulable = chance.percent(30);
        if (chance.percent(30))
            spec.labels.set("zone", "c");
        if (chance.percent(30))
            spec.taints.push_back({"dedicated", "c", taint_effect::no_schedule});
    }
    for (auto& [key, spec, parent] : other.queues) {
        spec.closed = chance.percent(30);
        spec.priority = chance.between(0, 2);
        if (chance.percent(30))
            spec.quota.set(kind_id{0}, chance.between(0, 5));
        if (chance.percent(30))
            spec.nodes.requirements.push_back({"zone", label_operator::in, {"c"}});
        if (chance.percent(30))
            spec.guarantee[0] = chance.between(0, 5);
        if (chance.percent(20))
            parent.reset();
        else if (chance.percent(20))
            parent = "other-parent";
    }
    for (auto& [key, spec] : other.gangs) {
        spec.priority = chance.between(0, 3);
        if (chance.percent(30))
            spec.fault = gang_fault::malformed;
        if (chance.percent(30))
            spec.queue = "other-queue";
    }
    for (auto& pod : other.pods) {
        pod.spec.request[0] += chance.between(0, 3);
        if (chance.percent(30))
            pod.spec.where.claims.ports.push_back({"TCP", "", 99});
        if (chance.percent(30)) {
            pod.spec.phase = pod_phase::running;
            pod.on = chance.percent(80) ? other.nodes.front().key : "other-node";
        }
    }
    world::named_pod more;
    const gang_tree& tree = other.gangs.front().spec.tree;
    for (int at = 0; at < 3; ++at) {
        more.key = "m-other-" + std::to_string(at);
        more.gang = at == 0 ? "other-gang" : other.gangs.front().key;
        if (at > 0)
            while (!tree.is_leaf(more.spec.role.value()))
                more.spec.role = vertex_index{more.spec.role.value() + 1};
        more.spec.request[0] = 1;
        more.spec.phase = at == 2 ? pod_phase::running : pod_phase::pending;
        if (at == 2)
            more.on = other.nodes.front().key;
        other.pods.push_back(more);
    }
    if (chance.percent(50))
        other.nodes.push_back({"c-other-node", other.nodes.front().spec});
    return other;
}

/// Takes back what `cycle` assumed, as if every bind had failed.
void forget_all(world_state& known, const cycle_result& result) {
    for (const decision& made : result.decisions)
        for (const placement& one : made.placements)
            expect_applied(known.forget(known.key(one.pod)));
}

/// Comes to the world by detours: other values first, objects that go away, cycles on the way whose
/// binds fail.
world_state grown(const world& from, testing::random& chance) {
    world_state known{from.pods_kind()};
    known.set_device_rule(device_rule::of(cards));
    if (!from.gangs.empty() && !from.nodes.empty()) {
        const world other = disturbed(from, chance);
        feed(known, other, &chance);
        forget_all(known, cycle(known, 0));
        for (std::size_t at = from.pods.size(); at < other.pods.size(); ++at)
            expect_applied(known.remove_pod(other.pods[at].key));
        for (std::size_t at = from.nodes.size(); at < other.nodes.size(); ++at)
            expect_applied(known.remove_node(other.nodes[at].key));
        if (chance.percent(30) && !from.pods.empty())
            expect_applied(known.remove_pod(from.pods.front().key));
        if (chance.percent(30))
            expect_applied(known.remove_gang(from.gangs.back().key));
    }
    feed(known, from, &chance);
    if (chance.percent(50))
        forget_all(known, cycle(known, 0));
    return known;
}

std::string check_detours(const world& from) {
    testing::random chance(from.seed + 1);
    world_state direct = to_state(from);
    world_state shuffled = to_state(from, &chance);
    world_state detour = grown(from, chance);
    const std::string plain = by_keys(direct, everything(direct));
    if (const std::string other = by_keys(shuffled, everything(shuffled)); other != plain)
        return "shuffled: " + other + " for " + plain;
    if (const std::string other = by_keys(detour, everything(detour)); other != plain)
        return "grown: " + other + " for " + plain;
    return check_accounts(detour);
}

/// The first answer in which a state that lives on differs from one rebuilt.
std::string first_difference(const cycle_result& lived, const cycle_result& rebuilt) {
    const auto name = [](const decision& made) {
        return std::to_string(static_cast<int>(made.outcome.kind)) + "/" +
               std::to_string(static_cast<int>(made.outcome.at));
    };
    for (std::size_t at = 0; at < std::min(lived.decisions.size(), rebuilt.decisions.size()); ++at)
        if (name(lived.decisions[at]) != name(rebuilt.decisions[at]))
            return "life " + name(lived.decisions[at]) + " for " + name(rebuilt.decisions[at]);
    return "life";
}

/// After every event and cycle a state answers as one rebuilt from what is then known.
std::string check_life(const world& from) {
    if (from.gangs.empty() || from.nodes.empty())
        return {};
    testing::random chance(from.seed + 2);
    world now = from;
    world_state living = to_state(now);
    random_events::source events(now, living, chance);
    // What was shown before pods with terms came is not asked anew among them.
    const bool among_pods = std::ranges::any_of(
        from.pods, [](const world::named_pod& each) { return each.spec.where.pods.has_value(); });
    const auto words = [&](const world_state& known, cycle_result result) {
        for (decision& made : result.decisions)
            made.outcome.could_start = made.outcome.could_start && !among_pods;
        return by_keys(known, result);
    };
    for (int turn = 0; turn < 6; ++turn) {
        world_state rebuilt = to_state(now, &chance);
        const cycle_result anew = everything(rebuilt);
        const std::string fresh = words(rebuilt, anew);
        const cycle_result result = everything(living);
        if (const std::string lived = words(living, result); lived != fresh)
            return first_difference(result, anew) + ": turn " + std::to_string(turn) + ": " +
                   lived + " for " + fresh + "\n" + text(now);
        for (const decision& made : result.decisions)
            for (const placement& one : made.placements)
                for (auto& pod : now.pods)
                    if (pod.key == living.key(one.pod)) {
                        pod.on = living.key(one.node);
                        pod.spec.phase = pod_phase::bound;
                        if (chance.percent(50))
                            expect_applied(living.confirm_bound(pod.key));
                    }
        for (std::int64_t count = chance.between(1, 2); count > 0; --count)
            events.happen();
    }
    return check_accounts(living);
}

/// What was answered last to every gang, and where every pod stands.
std::string remembered(const world_state& known) {
    std::string out;
    for (const auto& [key, which] : known.gang_keys())
        out += key + " " + std::to_string(static_cast<int>(known[which].last.kind)) + "/" +
               std::to_string(static_cast<int>(known[which].last.at)) + "; ";
    for (const auto& [key, which] : known.pod_keys())
        if (known[which].node)
            out += key + "@" + known.key(*known[which].node) + " ";
    return out;
}

/// Cycles that skip what cannot have changed leave the same answers and placements as cycles that
/// ask every gang anew, and report each change once.
std::string check_skips(const world& from) {
    if (from.gangs.empty() || from.nodes.empty())
        return {};
    testing::random chance(from.seed + 3);
    world now = from;
    world_state living = to_state(now);
    random_events::source events(now, living, chance);
    for (int turn = 0; turn < 6; ++turn) {
        world_state anew = to_state(now, &chance);
        static_cast<void>(cycle(anew, 0));
        std::map<std::string, std::pair<answer, gate>> before;
        for (const auto& [key, which] : living.gang_keys())
            if (living[which].last.is_known)
                before[key] = {living[which].last.kind, living[which].last.at};
        const cycle_result result = cycle(living, 0);
        if (const std::string lived = remembered(living); lived != remembered(anew))
            return "skips: turn " + std::to_string(turn) + ": " + lived + " for " +
                   remembered(anew) + "\n" + text(now);
        for (const decision& made : result.decisions) {
            const std::string& key = living.key(made.gang);
            const std::pair said{made.outcome.kind, made.outcome.at};
            if (made.placements.empty() && before.contains(key) && before[key] == said)
                return "told again: " + key;
            before[key] = said;
        }
        for (const auto& [key, which] : living.gang_keys())
            if (before[key] != std::pair{living[which].last.kind, living[which].last.at})
                return "not told: " + key;
        for (auto& pod : now.pods) {
            const auto& record = living[living.find_pod(pod.key)->index];
            if (!record.assumed)
                continue;
            pod.on = living.key(*record.node);
            pod.spec.phase = pod_phase::bound;
            if (chance.percent(50))
                expect_applied(living.confirm_bound(pod.key));
        }
        for (std::int64_t count = chance.between(1, 2); count > 0; --count)
            events.happen();
    }
    return {};
}

} // namespace

TEST_CASE("what a cycle skips has not changed, and every change is told once") {
    CHECK(count_faults("skips", 4'000, random_world, check_skips) == 0);
    CHECK(count_faults("near-critical skips", 1'000, critical_world, check_skips) == 0);
    CHECK(count_faults("skips among pods", 2'000, pod_world, check_skips) == 0);
    CHECK(count_faults("skips with devices", 4'000, carded_world, check_skips) == 0);
}

TEST_CASE("a cycle commits what it says, nothing in part, and leaves no gang that would fit") {
    CHECK(count_faults("cycles", 6'000, random_world, check_cycle) == 0);
    CHECK(count_faults("near-critical cycles", 2'000, critical_world, check_cycle) == 0);
    CHECK(count_faults("cycles with devices", 6'000, carded_world, check_cycle) == 0);
}

TEST_CASE("a refused gang leaves the ledger as it was") {
    CHECK(count_faults("refusals", 3'000, random_world, check_refusals) == 0);
    CHECK(count_faults("near-critical refusals", 2'000, critical_world, check_refusals) == 0);
    CHECK(count_faults("refusals among pods", 1'000, pod_world, check_refusals) == 0);
    CHECK(count_faults("refusals with devices", 3'000, carded_world, check_refusals) == 0);
}

TEST_CASE("gangs are asked by queue priority, share, gang priority, age and key") {
    CHECK(count_faults("order", 3'000, random_world, check_order) == 0);
}

TEST_CASE("the order of events and what stood there before do not show in a plan") {
    CHECK(count_faults("detours", 4'000, random_world, check_detours) == 0);
    CHECK(count_faults("near-critical detours", 1'000, critical_world, check_detours) == 0);
    CHECK(count_faults("detours among pods", 2'000, pod_world, check_detours) == 0);
    CHECK(count_faults("detours with devices", 4'000, carded_world, check_detours) == 0);
}

TEST_CASE("a state that lives on answers as one rebuilt from its listing") {
    CHECK(count_faults("life", 4'000, random_world, check_life) == 0);
    CHECK(count_faults("life with devices", 4'000, carded_world, check_life) == 0);
    CHECK(count_faults("life among pods", 2'000, pod_world, check_life) == 0);
}

} // namespace cycle_properties_test
