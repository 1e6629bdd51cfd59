// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/apis/grove/names.hpp>
#include <muster/apis/grove/set.hpp>
#include <muster/base/checked.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/gangs/target.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// The text of a field, empty when there is none.
[[nodiscard]] inline std::string_view grove_text(const boost::json::object& of,
                                                 std::string_view key) {
    const auto* value = of.if_contains(key);
    const auto* string = value ? value->if_string() : nullptr;
    return string ? std::string_view(string->data(), string->size()) : std::string_view{};
}

/// What the cliques of a PodCliqueSet must agree on: names, one topology, an order in which all can
/// start, one queue. Completes the set as far as cliques refer to each other.
class grove_set_checks {
public:
    grove_set_checks(translate::grove_set& set, const std::vector<std::vector<std::string>>& after,
                     translate::grove_dialect dialect)
        : set_(set), starts_after_(after), dialect_(dialect) {}

    void check(const array_reader& cliques) {
        for (std::size_t at = 0; at < set_.cliques.size(); ++at) {
            const translate::grove_clique& clique = set_.cliques[at];
            const std::string_view group =
                clique.group ? set_.groups[*clique.group].name : std::string_view{};
            const std::size_t length = set_.name.size() + group.size() + clique.name.size();
            if (length > translate::grove::name_budget)
                cliques[at].error("the names of the set, its scaling group and the clique have " +
                                  std::to_string(length) +
                                  " characters together (expected at most " +
                                  std::to_string(translate::grove::name_budget) + ")");
        }
        check_topologies(cliques);
        if (set_.startup == translate::grove_startup::explicit_order)
            check_order(cliques);
        find_queue(cliques);
        count_pods(cliques);
    }

private:
    /// One topology for the whole set; what is not named is inherited.
    void check_topologies(const array_reader& cliques) {
        std::string_view name = set_.packing.topology;
        const auto agree = [&](std::string_view own) {
            if (own.empty())
                return;
            if (name.empty())
                name = own;
            else if (own != name)
                cliques.error("topologyConstraints name " + in_quotes(name) + " and " +
                              in_quotes(own) + " (expected one topology in a set)");
        };
        for (const translate::grove_scaling_group& group : set_.groups)
            agree(group.packing.topology);
        for (const translate::grove_clique& clique : set_.cliques)
            agree(clique.packing.topology);
    }

    void check_order(const array_reader& cliques) {
        std::vector<std::size_t> open(set_.cliques.size(), 0); // parents not yet started
        for (std::size_t at = 0; at < set_.cliques.size(); ++at) {
            for (const std::string& name : starts_after_[at]) {
                const auto parent =
                    std::ranges::find(set_.cliques, name, &translate::grove_clique::name);
                const auto number = static_cast<std::size_t>(parent - set_.cliques.begin());
                auto& known = set_.cliques[at].starts_after;
                if (parent == set_.cliques.end())
                    cliques[at].error("startsAfter names " + in_quotes(name) +
                                      " (expected one of template.cliques)");
                else if (number == at)
                    cliques[at].error("startsAfter names the clique itself (expected others)");
                else if (std::ranges::find(known, number) != known.end())
                    cliques[at].error("startsAfter names " + in_quotes(name) +
                                      " twice (expected every clique once)");
                else
                    known.push_back(number);
            }
            open[at] = set_.cliques[at].starts_after.size();
        }
        std::vector<std::size_t> started;
        for (std::size_t at = 0; at < open.size(); ++at)
            if (open[at] == 0)
                started.push_back(at);
        for (std::size_t next = 0; next < started.size(); ++next)
            for (std::size_t at = 0; at < open.size(); ++at)
                for (const std::size_t parent : set_.cliques[at].starts_after)
                    if (parent == started[next] && --open[at] == 0)
                        started.push_back(at);
        if (started.size() == open.size())
            return;
        std::string names;
        for (std::size_t at = 0; at < open.size(); ++at)
            if (open[at] > 0)
                names += " " + std::string(set_.cliques[at].name);
        cliques.error("startsAfter goes in a circle among" + names +
                      " (expected an order in which all can start)");
    }

    /// The set's own label, its annotation, or what its cliques agree on.
    void find_queue(const array_reader& cliques) {
        constexpr std::string_view key = translate::keys::kai_queue;
        const auto named = [&](const boost::json::object* labels,
                               const boost::json::object* annotations) {
            const std::string_view label = labels ? grove_text(*labels, key) : std::string_view{};
            return label.empty() && annotations ? grove_text(*annotations, key) : label;
        };
        set_.queue = named(set_.labels, set_.annotations);
        for (std::size_t at = 0; at < set_.cliques.size(); ++at) {
            const std::string_view own =
                named(set_.cliques[at].labels, set_.cliques[at].annotations);
            if (own.empty())
                continue;
            if (set_.queue.empty())
                set_.queue = own;
            else if (own != set_.queue)
                cliques[at].error("kai.scheduler/queue is " + in_quotes(own) + " here and " +
                                  in_quotes(set_.queue) +
                                  " before (expected one queue for the set)");
        }
        if (set_.queue.empty() && dialect_ == translate::grove_dialect::upstream &&
            set_.scheduler == translate::schedulers::kai)
            cliques.error(
                "no queue is named (expected a label or annotation kai.scheduler/queue on "
                "the set or its cliques)");
    }

    void count_pods(const array_reader& cliques) const {
        int128 pods = 0;
        for (const translate::grove_clique& clique : set_.cliques)
            pods += static_cast<int128>(clique.replicas) *
                    (clique.group ? set_.groups[*clique.group].replicas : 1);
        if (pods * set_.replicas > most_pods_)
            cliques.error("the set has more than " + std::to_string(most_pods_) +
                          " pods (expected at most that many)");
    }

    static constexpr std::int64_t most_pods_ = 1'000'000;

    translate::grove_set& set_;
    const std::vector<std::vector<std::string>>& starts_after_;
    translate::grove_dialect dialect_;
};

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
