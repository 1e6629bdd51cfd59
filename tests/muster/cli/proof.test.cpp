// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>
#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <muster/cycle/cycle.hpp>
#include <muster/testing/check_placements.hpp>
#include <muster/testing/verifier.hpp>
#include <support/cases.hpp>
#include <support/pod_worlds.hpp>
#include <support/settings.hpp>

#include "../../../examples/muster/plan/proof.hpp"

namespace cli_proof_test {

namespace {

using namespace muster;
using namespace muster::testing;
using boost::json::value;

const char* const kinds_of_worlds[] = {"cpu", "memory", "gpu", "pods"};

std::string text_of(const value& what) {
    return {what.as_string().data(), what.as_string().size()};
}

/// Reads a printed proof as somebody would who knows the schema and the input, and nothing else.
class proof_reader {
public:
    proof_reader(const world_state& known, const gang_tree& tree) : known_(&known), tree_(&tree) {}

    [[nodiscard]] certificate read(certificate_scope scope, const value& caps, const value& proof) {
        made_ = {};
        made_.scope = scope;
        for (const value& one : caps.as_array()) {
            const auto number = [&](const char* key) {
                const auto* found = one.as_object().if_contains(key);
                return found ? found->to_number<std::size_t>() : 0;
            };
            const std::string rule = text_of(one.at("rule"));
            made_.caps.push_back({rule == "keptOff" ? certificate::cap::rule::kept_off
                                  : rule == "apart" ? certificate::cap::rule::apart
                                                    : certificate::cap::rule::spread,
                                  number("class"), number("other"), number("term"),
                                  static_cast<std::int64_t>(number("fewest"))});
        }
        subtree(proof);
        return std::move(made_);
    }

private:
    void subtree(const value& from) {
        certificate::vertex vertex;
        if (const auto* weights = from.as_object().if_contains("weights")) {
            for (const value& weight : weights->as_array())
                vertex.weights.push_back(weight.to_number<std::int64_t>());
            for (const auto& [kind, price] : from.at("prices").as_object()) {
                const auto* at = std::find(std::begin(kinds_of_worlds), std::end(kinds_of_worlds),
                                           std::string(kind.data(), kind.size()));
                vertex.prices.push_back(
                    {kind_id{static_cast<std::size_t>(at - std::begin(kinds_of_worlds))},
                     price.to_number<std::int64_t>()});
            }
            made_.vertices.push_back(std::move(vertex));
            return;
        }
        vertex.leaf = false;
        if (const auto* domains = from.as_object().if_contains("domains")) {
            vertex.together = vertex_called(from.at("together"));
            made_.vertices.push_back(std::move(vertex));
            for (const value& branch : domains->as_array())
                subtree(branch.at("proof"));
            return;
        }
        vertex.member_class = from.at("class").to_number<std::size_t>();
        vertex.node = known_->find_node(text_of(from.at("node")))->index;
        vertex.at_most = from.at("atMost").to_number<std::int64_t>();
        made_.vertices.push_back(std::move(vertex));
        subtree(from.at("low"));
        subtree(from.at("high"));
    }

    [[nodiscard]] vertex_index vertex_called(const value& name) const {
        for (std::size_t at = 1; at < tree_->size(); ++at)
            if (name.is_string() && (*tree_)[at].name == text_of(name))
                return vertex_index{at};
        return vertex_index{0};
    }

    const world_state* known_;
    const gang_tree* tree_;
    certificate made_;
};

world with_names(world of) {
    for (auto& gang : of.gangs)
        for (std::size_t at = 1; at < gang.spec.tree.size(); ++at)
            gang.spec.tree.rename(vertex_index{at}, "v" + std::to_string(at));
    return of;
}

kind_table names_of_kinds() {
    kind_table kinds;
    for (const char* const name : kinds_of_worlds)
        static_cast<void>(kinds.intern(name));
    return kinds;
}

struct tally {
    std::size_t proofs = 0;
    std::size_t domains = 0;
    std::size_t nested = 0;
    std::size_t nowhere = 0;
    std::size_t capped = 0;
};

void count(const value& proof, tally& seen, bool within = false) {
    const auto& object = proof.as_object();
    if (const auto* domains = object.if_contains("domains")) {
        ++seen.domains;
        seen.nested += within ? 1U : 0U;
        for (const value& branch : domains->as_array()) {
            seen.nowhere += branch.at("domain").is_null() ? 1U : 0U;
            count(branch.at("proof"), seen, true);
        }
    } else if (object.contains("low")) {
        count(proof.at("low"), seen, within);
        count(proof.at("high"), seen, within);
    }
}

/// What is wrong with the decision's proof as it is printed, about the state as it stands.
std::string check_printed(const world_state& known, const kind_table& kinds, const decision& made,
                          tally& seen) {
    const auto members = members_of(known, made.gang);
    cli::proof_writer writer(known, kinds, members, *made.outcome.proof);
    const auto printed = writer.write();
    if (!printed)
        return "a proof cannot be printed";
    boost::json::parse_options deep;
    deep.max_depth = 1'000'000;
    const value read = boost::json::parse(boost::json::serialize(*printed), {}, deep);
    const certificate again =
        proof_reader(known, known[made.gang].spec.tree)
            .read(made.outcome.proof->scope,
                  boost::json::parse(boost::json::serialize(writer.caps())), read);
    if (verify(known, made.gang, again) != proof_check::valid)
        return "a proof does not hold as printed: " + boost::json::serialize(*printed);
    seen.capped += writer.caps().empty() ? 0U : 1U;
    ++seen.proofs;
    count(read, seen);
    return {};
}

std::string check_printed(const world& of, tally& seen) {
    const world named = with_names(of);
    const world_state known = to_state(named);
    const kind_table kinds = names_of_kinds();
    const cycle_result result = preview(known, 0, policy<>{}, {}, {true});
    // The state as it stood when the gang's turn came, and for those whose quota was used up by
    // others after it, as it stood in the end.
    world_state then = known;
    std::vector<const decision*> closed_out;
    for (const decision& made : result.decisions) {
        if (made.outcome.proof) {
            const std::string fault = check_printed(then, kinds, made, seen);
            if (!fault.empty() && made.outcome.at != gate::quota)
                return fault;
            if (!fault.empty())
                closed_out.push_back(&made);
        }
        observe_bound(then, made);
    }
    for (const decision* made : closed_out)
        if (const std::string fault = check_printed(then, kinds, *made, seen); !fault.empty())
            return fault;
    return {};
}

} // namespace

TEST_CASE("a printed proof, read by its schema, is a proof") {
    tally seen;
    const auto check = [&](const world& of) { return check_printed(of, seen); };
    CHECK(count_faults("printed proofs", 300, random_world, check) == 0);
    CHECK(count_faults("printed proofs that branch", 300, tangled_world, check) == 0);
    CHECK(count_faults("printed proofs of closeness", 6'000, close_world, check) == 0);
    CHECK(count_faults("printed proofs among pods", 300, pod_world, check) == 0);
    std::printf("printed: %zu proofs, %zu split on domains, %zu of these below another, %zu "
                "branches without a domain\n",
                seen.proofs, seen.domains, seen.nested, seen.nowhere);
    CHECK(seen.proofs > 0);
    CHECK(seen.domains > 0);
    CHECK(seen.capped > 0);
    if (muster::testing::all_cases(6'000))
        CHECK((seen.nested > 0 && seen.nowhere > 0));
}

TEST_CASE("a certificate that is cut short, or about other members, is not printed") {
    const world_state known = to_state(world{});
    const kind_table kinds = names_of_kinds();
    gang_members<world_width> members;
    const gang_tree tree(1);
    members.tree = &tree;
    certificate proof;
    CHECK(!cli::proof_writer(known, kinds, members, proof).write());
    proof.vertices.emplace_back();
    CHECK(cli::proof_writer(known, kinds, members, proof).write());
    proof.vertices.front().weights = {1};
    CHECK(!cli::proof_writer(known, kinds, members, proof).write());
    proof.vertices.front() = {};
    proof.vertices.front().leaf = false;
    CHECK(!cli::proof_writer(known, kinds, members, proof).write());
    proof.vertices.front().together = vertex_index{0};
    CHECK(!cli::proof_writer(known, kinds, members, proof).write());
    proof.vertices = {{}, {}};
    CHECK(!cli::proof_writer(known, kinds, members, proof).write());
}

} // namespace cli_proof_test
