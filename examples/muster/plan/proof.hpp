// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/cluster/state.hpp>
#include <muster/problem/members.hpp>
#include <muster/problem/topology_requirement.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/vocabulary/certificate.hpp>

namespace cli {

/// Writes the tree of a certificate with everything called by its name.
template<class Traits>
class proof_writer {
public:
    /// All arguments must outlive the writer; the members are those that the certificate is about.
    proof_writer(const muster::state<Traits>& known, const muster::kind_table& kinds,
                 const muster::gang_members<Traits::width>& members,
                 const muster::certificate& proof)
        : known_(&known), kinds_(&kinds), members_(&members), proof_(&proof) {}

    /// Nothing when the certificate is not the tree that its vertices say it is: it is about other
    /// members then. O(vertices × (nodes + domains)).
    [[nodiscard]] std::optional<boost::json::object> write() {
        next_ = 0;
        confined_.clear();
        auto made = subtree();
        return next_ == proof_->vertices.size() ? std::move(made) : std::nullopt;
    }

    /// What the proof takes for granted of terms between pods; empty when it is nothing.
    [[nodiscard]] boost::json::array caps() const {
        using rule = muster::certificate::cap::rule;
        array out;
        for (const muster::certificate::cap& one : proof_->caps) {
            object made;
            made["class"] = one.member_class;
            made["rule"] = one.by == rule::kept_off ? "keptOff"
                           : one.by == rule::apart  ? "apart"
                                                    : "spread";
            if (one.by != rule::kept_off)
                made["term"] = one.term;
            if (one.by == rule::apart)
                made["other"] = one.other;
            if (one.by == rule::spread)
                made["fewest"] = one.fewest;
            out.push_back(std::move(made));
        }
        return out;
    }

private:
    using object = boost::json::object;
    using array = boost::json::array;

    [[nodiscard]] std::optional<object> subtree() {
        if (next_ >= proof_->vertices.size())
            return std::nullopt;
        const muster::certificate::vertex& vertex = proof_->vertices[next_++];
        if (vertex.leaf)
            return leaf(vertex);
        if (vertex.together)
            return domains(*vertex.together);
        auto low = subtree();
        auto high = subtree();
        if (!low || !high || vertex.member_class >= members_->classes.size())
            return std::nullopt;
        object out;
        out["class"] = vertex.member_class;
        out["node"] = known_->key(vertex.node);
        out["atMost"] = vertex.at_most;
        out["low"] = std::move(*low);
        out["high"] = std::move(*high);
        return out;
    }

    [[nodiscard]] std::optional<object> leaf(const muster::certificate::vertex& vertex) const {
        if (vertex.weights.size() != members_->classes.size())
            return std::nullopt;
        object out;
        out["weights"] = array(vertex.weights.begin(), vertex.weights.end());
        std::map<std::string, std::int64_t> by_name;
        for (const auto& price : vertex.prices)
            by_name.emplace(kinds_->name(price.kind), price.value);
        object prices;
        for (const auto& [kind, value] : by_name)
            prices[kind] = value;
        out["prices"] = std::move(prices);
        return out;
    }

    /// A branch for each way in which the members at or below the vertex may stand together.
    [[nodiscard]] std::optional<object> domains(muster::vertex_index at) {
        const auto of = std::ranges::find(members_->topology, at.value(),
                                          &muster::topology_requirement::vertex);
        if (of == members_->topology.end() || !of->required)
            return std::nullopt;
        const auto& levels = known_->topologies()[of->within];
        const bool now = proof_->scope == muster::certificate_scope::free_now;
        array branches;
        for (const auto& way :
             candidate_domains(*known_, *members_->tree, *of, *of->required, now, confined_)) {
            confined_.push_back({of->vertex, of->within, way});
            auto proof = subtree();
            confined_.pop_back();
            if (!proof)
                return std::nullopt;
            object branch;
            branch["domain"] = nullptr;
            for (const auto& [path, which] : levels.of_level(*of->required))
                if (which == way)
                    branch["domain"] = array(path.begin(), path.end());
            branch["proof"] = std::move(*proof);
            branches.push_back(std::move(branch));
        }
        const std::string& name = (*members_->tree)[at].name;
        object out;
        out["together"] = nullptr;
        if (at.value() != 0 && !name.empty())
            out["together"] = name;
        out["level"] = levels.value().levels[*of->required];
        out["domains"] = std::move(branches);
        return out;
    }

    const muster::state<Traits>* known_;
    const muster::kind_table* kinds_;
    const muster::gang_members<Traits::width>* members_;
    const muster::certificate* proof_;
    std::size_t next_ = 0;
    std::vector<muster::vertex_domain> confined_;
};

} // namespace cli
