// SPDX-License-Identifier: Apache-2.0
// Decides a fixed set of hard cases and prints one digest of all that was decided. It must not
// depend on the compiler, its flags or the machine, so neither may anything here: numbers come from
// the generator below, and no expression draws two of them (their order would be unspecified).
#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

namespace {

using namespace muster;
constexpr std::size_t width = 4;
constexpr kind_id cpu{0}, memory{1}, gpu{2}, pods{3};
using cluster = state<string_traits<width>>;

/// xorshift64* (Vigna, An experimental exploration of Marsaglia's xorshift generators, scrambled).
class numbers {
public:
    explicit numbers(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}

    std::int64_t between(std::int64_t low, std::int64_t high) {
        state_ ^= state_ >> 12U;
        state_ ^= state_ << 25U;
        state_ ^= state_ >> 27U;
        const std::uint64_t drawn = (state_ * 0x2545f4914f6cdd1dU) >> 32U;
        return low + static_cast<std::int64_t>(drawn % static_cast<std::uint64_t>(high - low + 1));
    }
    bool percent(std::int64_t chance) { return between(1, 100) <= chance; }

private:
    std::uint64_t state_;
};

/// FNV-1a, 64 bits.
class digest {
public:
    void add(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3U; }
    void add(std::int64_t number) {
        for (unsigned shift = 0; shift < 64; shift += 8)
            add(static_cast<std::uint8_t>(static_cast<std::uint64_t>(number) >> shift));
    }
    void add(std::size_t number) { add(static_cast<std::int64_t>(number)); }
    void add(std::string_view text) {
        for (const char each : text)
            add(static_cast<std::uint8_t>(each));
        add(std::uint8_t{0});
    }
    template<class Enum>
        requires std::is_enum_v<Enum>
    void add(Enum code) { add(static_cast<std::int64_t>(code)); }
    void add(bool flag) { add(static_cast<std::uint8_t>(flag)); }

    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0xcbf29ce484222325U;
};

void must(event_result what) {
    if (what == event_result::applied)
        return;
    std::fputs("an event was refused\n", stderr);
    std::exit(EXIT_FAILURE);
}

// ---- the cases ---------------------------------------------------------------------------------

/// Names whose order is not that in which they are given.
std::string name(const char* what, std::int64_t number) {
    return what + std::to_string((number * 7 + 3) % 10) + "-" + std::to_string(number);
}

void add_node(cluster& to, numbers& draw, std::int64_t number, std::int64_t sizes) {
    node<width> made;
    // Few sizes, so that many nodes are alike and ties are common.
    const std::int64_t size = draw.between(1, sizes);
    made.allocatable[cpu] = 4000 * size;
    made.allocatable[memory] = (std::int64_t{8} << 30U) * size;
    made.allocatable[gpu] = draw.between(0, 1) * 4;
    made.allocatable[pods] = draw.percent(80) ? 110 : draw.between(1, 4);
    made.labels.set("zone", draw.percent(50) ? "a" : "b");
    made.labels.set("rank", std::to_string(number));
    if (draw.percent(15))
        made.taints.push_back({"dedicated", "x", taint_effect::no_schedule});
    if (draw.percent(10))
        made.taints.push_back({"spare", "", taint_effect::prefer_no_schedule});
    if (draw.percent(5))
        made.taints.push_back({"node.kubernetes.io/not-ready", "", taint_effect::no_execute});
    made.unschedulable = draw.percent(10);
    must(to.upsert_node(name("node", number), std::move(made)));
}

void add_queue(cluster& to, numbers& draw, std::int64_t number) {
    queue<width> made;
    made.priority = draw.between(0, 1);
    if (draw.percent(60))
        made.quota.set(cpu, 1000 * draw.between(2, 30));
    if (draw.percent(40))
        made.quota.set(gpu, draw.between(0, 8));
    made.strict_order = draw.percent(15);
    made.closed = draw.percent(10);
    if (draw.percent(15))
        made.nodes.requirements.push_back({"zone", label_operator::in, {"a"}});
    if (draw.percent(15))
        made.tenants->requirements.push_back({"team", label_operator::in, {"red"}});
    must(to.upsert_queue(name("queue", number), std::move(made)));
}

constraints where(numbers& draw) {
    constraints made;
    if (draw.percent(20))
        made.selector.requirements.push_back({"zone", label_operator::in, {"b"}});
    if (draw.percent(10)) {
        node_term term;
        const std::int64_t bound = draw.between(1, 5);
        term.labels.requirements.push_back({"rank", label_operator::less, {std::to_string(bound)}});
        made.affinity = std::vector<node_term>{term};
    }
    if (draw.percent(15)) {
        preferred_node_term liked;
        liked.weight = static_cast<std::int32_t>(draw.between(1, 100));
        liked.term.labels.requirements.push_back({"zone", label_operator::in, {"a"}});
        made.preferred.push_back(liked);
    }
    if (draw.percent(25))
        made.tolerations.push_back({"dedicated", {}, {}});
    if (draw.percent(10))
        made.claims.ports.push_back({"TCP", "", static_cast<std::int32_t>(draw.between(80, 81))});
    made.unsupported = draw.percent(2);
    return made;
}

pod<width> member(numbers& draw) {
    pod<width> made;
    made.request[cpu] = 500 * draw.between(1, 10);
    made.request[memory] = (std::int64_t{1} << 30U) * draw.between(0, 8);
    made.request[gpu] = draw.percent(40) ? draw.between(1, 3) : 0;
    made.request[pods] = 1;
    made.created = draw.between(0, 2);
    made.where = where(draw);
    return made;
}

void add_members(cluster& to, numbers& draw, const std::string& gang, vertex_index role,
                 std::int64_t count, std::int64_t nodes) {
    pod<width> made = member(draw);
    for (std::int64_t rank = 0; rank < count; ++rank) {
        if (draw.percent(15))
            made = member(draw); // unequal members in one role
        made.role = role;
        const std::string key = gang + "/" + std::to_string(role.value()) + name(".", rank);
        pod<width> one = made;
        if (draw.percent(85)) {
            one.phase = draw.percent(4) ? pod_phase::gated : pod_phase::pending;
            must(to.upsert_pod(key, gang, std::move(one)));
            continue;
        }
        // Nothing asks whether there is room, so some nodes have less than nothing free.
        one.phase = draw.percent(80) ? pod_phase::running : pod_phase::succeeded;
        const std::int64_t on = draw.between(0, nodes); // the last one does not exist
        must(to.upsert_pod(key, gang, std::move(one), name("node", on)));
    }
}

void add_gang(cluster& to, numbers& draw, std::int64_t number, std::int64_t queues,
              std::int64_t nodes) {
    const std::string key = name("gang", number);
    gang<std::string> made;
    made.priority = draw.between(0, 2);
    made.created = draw.between(0, 2);
    made.tenant.set("team", draw.percent(50) ? "red" : "blue");
    if (queues > 0 && draw.percent(80))
        made.queue = name("queue", draw.between(0, draw.percent(5) ? queues : queues - 1));
    const std::int64_t shape = draw.between(0, 9);
    std::vector<std::pair<vertex_index, std::int64_t>> roles; // and how many members each has
    if (shape < 4) {
        const std::int64_t minimum = draw.between(1, 6);
        made.tree = single_role(minimum);
        roles.push_back({vertex_index{0}, minimum});
    } else {
        vertex_index parent{0};
        if (shape == 9) {
            parent = made.tree.add(parent, 0, "group");
            const std::int64_t alone = draw.between(0, 1);
            roles.push_back({made.tree.add(vertex_index{0}, alone), alone});
        }
        const std::int64_t count = draw.between(2, 3);
        for (std::int64_t each = 0; each < count; ++each) {
            const std::int64_t minimum = draw.between(0, 4);
            roles.push_back({made.tree.add(parent, minimum), minimum});
        }
        if (draw.percent(30))
            made.tree.require_subgroups(parent, draw.between(1, count));
    }
    if (draw.percent(3))
        made.fault = draw.percent(50) ? gang_fault::malformed : gang_fault::disagreement;
    if (!draw.percent(2))
        must(to.upsert_gang(key, made));
    else
        roles = {{vertex_index{0}, 1}};
    for (const auto& [role, minimum] : roles)
        add_members(to, draw, key, role, minimum + draw.between(draw.percent(10) ? -1 : 0, 2) + 1,
                    nodes);
}

/// Everything at once.
void make_mixed(cluster& known, numbers& draw) {
    const std::int64_t nodes = draw.between(2, 9);
    const std::int64_t queues = draw.between(0, 3);
    const std::int64_t gangs = draw.between(2, 7);
    const std::int64_t sizes = draw.between(1, 3);
    for (std::int64_t at = 0; at < nodes; ++at)
        add_node(known, draw, at, sizes);
    for (std::int64_t at = 0; at < queues; ++at)
        add_queue(known, draw, at);
    for (std::int64_t at = 0; at < gangs; ++at)
        add_gang(known, draw, at, queues, nodes);
}

/// One gang of several roles that fills the nodes to the brim, or nearly: most of these are decided
/// by the search only.
void make_critical(cluster& known, numbers& draw) {
    const std::int64_t nodes = draw.between(2, 4);
    const std::int64_t roles = draw.between(2, 3);
    std::vector<resources<width>> room(static_cast<std::size_t>(nodes));
    gang<std::string> made;
    std::vector<std::pair<std::string, pod<width>>> members;
    for (std::int64_t role = 0; role < roles; ++role) {
        const std::int64_t count = draw.between(1, 4);
        pod<width> one;
        one.role = made.tree.add(vertex_index{0}, count);
        one.request[cpu] = draw.between(1, 9);
        one.request[memory] = draw.between(1, 9);
        for (std::int64_t rank = 0; rank < count; ++rank) {
            members.push_back({name("pod", role * 10 + rank), one});
            auto& on = room[static_cast<std::size_t>(draw.between(0, nodes - 1))];
            on[cpu] += one.request[cpu];
            on[memory] += one.request[memory];
        }
    }
    const std::int64_t moves = draw.between(0, 3);
    for (std::int64_t move = 0; move < moves; ++move) {
        const kind_id kind{static_cast<std::size_t>(draw.between(0, 1))};
        auto& from = room[static_cast<std::size_t>(draw.between(0, nodes - 1))];
        auto& to = room[static_cast<std::size_t>(draw.between(0, nodes - 1))];
        if (from[kind] == 0)
            continue;
        --from[kind];
        ++to[kind];
    }
    for (std::int64_t at = 0; at < nodes; ++at) {
        node<width> machine;
        machine.allocatable = room[static_cast<std::size_t>(at)];
        must(known.upsert_node(name("node", at), std::move(machine)));
    }
    must(known.upsert_gang("gang", std::move(made)));
    for (const auto& [key, one] : members)
        must(known.upsert_pod(key, "gang", one));
}

/// Six members, no two alike, on two nodes. Each node can take either half of the gang, halved in
/// one way for the one and in another way for the other: half a member everywhere would always do,
/// so that weighing members proves nothing and only branching tells.
void make_tangled(cluster& known, numbers& draw) {
    constexpr unsigned members = 6;
    gang<std::string> made;
    made.tree = single_role(members);
    must(known.upsert_gang("gang", std::move(made)));
    std::vector<pod<width>> drawn(members);
    for (unsigned at = 0; at < members; ++at) {
        for (std::size_t column = 0; column < width; ++column)
            drawn[at].request[column] = draw.between(1, 30);
        must(known.upsert_pod(name("pod", at), "gang", drawn[at]));
    }
    static constexpr unsigned halvings[] = {0b000111, 0b001011, 0b010011, 0b100011, 0b001101,
                                            0b010101, 0b100101, 0b011001, 0b101001, 0b110001};
    for (std::int64_t number = 0; number < 2; ++number) {
        const unsigned half = halvings[draw.between(0, 9)];
        resources<width> loads[2];
        for (unsigned at = 0; at < members; ++at)
            for (std::size_t column = 0; column < width; ++column)
                loads[half >> at & 1U][column] += drawn[at].request[column];
        node<width> machine;
        for (std::size_t column = 0; column < width; ++column)
            machine.allocatable[column] = std::max(loads[0][column], loads[1][column]);
        must(known.upsert_node(name("node", number), std::move(machine)));
    }
}

// ---- what was decided --------------------------------------------------------------------------

void add(digest& to, const cluster& known, const certificate& proof) {
    to.add(proof.scope);
    for (const certificate::vertex& each : proof.vertices) {
        to.add(each.leaf);
        for (const std::int64_t weight : each.weights)
            to.add(weight);
        for (const certificate::price& price : each.prices) {
            to.add(price.kind.value());
            to.add(price.value);
        }
        if (each.leaf)
            continue;
        to.add(each.member_class);
        to.add(std::string_view(known.key(each.node)));
        to.add(each.at_most);
    }
}

void add(digest& to, const cluster& known, gang_index which, const explain_options& options) {
    for (const reason& why : explain(known, which, options)) {
        to.add(why.code);
        to.add(why.kind);
        to.add(why.not_minimal);
        to.add(why.resource ? why.resource->value() : width);
        to.add(std::string_view(why.queue ? known.key(*why.queue) : ""));
        to.add(why.amount_needed);
        to.add(why.amount_left);
        for (const role_shortage& each : why.roles) {
            to.add(each.role.value());
            to.add(each.needed);
            to.add(each.possible);
        }
    }
}

void add(digest& to, const cluster& known, const cycle_result& result) {
    for (const decision& made : result.decisions) {
        to.add(std::string_view(known.key(made.gang)));
        to.add(made.outcome.kind);
        to.add(made.outcome.at);
        to.add(made.outcome.could_start);
        to.add(made.outcome.steps);
        for (const auto& [pod, node] : made.placements) {
            to.add(std::string_view(known.key(pod)));
            to.add(std::string_view(known.key(node)));
        }
        if (made.outcome.proof)
            add(to, known, *made.outcome.proof);
    }
    const cycle_counters& counted = result.counters;
    for (const std::size_t each :
         {counted.asked, counted.skipped, counted.admitted, counted.waiting, counted.never,
          counted.undecided, counted.pods_placed})
        to.add(each);
    to.add(counted.search_steps);
}

/// Half of what was placed is bound, the other half fails; nodes come, shrink and go.
void let_time_pass(cluster& known, numbers& draw, const cycle_result& result) {
    std::vector<std::string> placed;
    for (const decision& made : result.decisions)
        for (const auto& [pod, node] : made.placements)
            placed.push_back(known.key(pod));
    for (const std::string& key : placed)
        must(draw.percent(60) ? known.confirm_bound(key) : known.forget(key));
    if (!placed.empty() && draw.percent(50))
        must(known.remove_pod(placed.front()));
    const std::string first = known.key(known.node_order().front());
    if (!known[known.node_order().front()].present)
        return;
    if (draw.percent(20)) {
        must(known.remove_node(first));
    } else if (draw.percent(60)) {
        node<width> changed = known[known.node_order().front()].spec;
        changed.allocatable[cpu] /= 2;
        changed.unschedulable = false;
        must(known.upsert_node(first, std::move(changed)));
    }
}

template<class Score>
void decide(digest& to, cluster known, numbers draw, budget limit) {
    const policy<Score> how{};
    cycle_options all;
    all.list_all = draw.percent(50);
    explain_options explaining;
    explaining.steps = std::min<std::int64_t>(limit.per_gang, std::int64_t{1} << 14U);
    for (std::int64_t now = 0; now < 3; ++now) {
        const cycle_result result = cycle(known, now, how, limit, all);
        add(to, known, result);
        for (const decision& made : result.decisions) {
            if (made.outcome.kind == answer::admitted)
                continue;
            explaining.scope = made.outcome.kind == answer::never ? certificate_scope::empty_cluster
                                                                  : certificate_scope::free_now;
            add(to, known, made.gang, explaining);
        }
        let_time_pass(known, draw, result);
    }
}

} // namespace

int main() {
    constexpr std::uint64_t cases = 900;
    digest all;
    for (std::uint64_t number = 0; number < cases; ++number) {
        numbers draw(number);
        cluster known(pods);
        if (number % 3 == 0)
            make_mixed(known, draw);
        else if (number % 3 == 1)
            make_critical(known, draw);
        else
            make_tangled(known, draw);
        budget limit;
        limit.per_gang = 1 << 16;
        if (draw.percent(20)) {
            limit.per_gang = draw.between(1, 400);
            limit.per_cycle = limit.per_gang * draw.between(1, 3);
        }
        decide<best_fit>(all, known, draw, limit);
        if (number % 4 < 2)
            decide<worst_fit>(all, known, draw, limit);
        else
            decide<first_fit>(all, known, draw, limit);
    }
    std::printf("%" PRIu64 " cases %016" PRIx64 "\n", cases, all.value());
}
