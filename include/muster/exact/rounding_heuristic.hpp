// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <muster/base/checked.hpp>
#include <muster/base/sequence.hpp>
#include <muster/exact/branch_bounds.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Primal heuristic: turns the heaviest patterns into a placement. Their total weight suffices, but
/// they have too few members of some classes and too many of others.
///
/// It starts from a mix of selections in given shares, rounded node by node so that the error of
/// one node is corrected at the next. It only considers exchanges that lose no more weight than
/// there is to spare; with weights close to the best, that leaves few patterns. It first makes
/// exchanges one by one, as long as each reduces the deficit and loses no more than its share of
/// the spare weight. Then a beam search over further exchanges keeps the states with the smallest
/// deficit.
template<std::size_t Width>
class rounding_heuristic {
public:
    using box = branch_bounds<Width>;
    using pattern = typename box::pattern;

    /// A selection of one pattern per part, and its share of the mix in parts of `whole`.
    struct ingredient {
        const sequence<pattern>* selection = nullptr;
        std::int64_t share = 0;
    };
    static constexpr std::int64_t whole = std::int64_t{1} << 20;

    /// `times` nodes of a part take this pattern.
    struct share {
        std::size_t part = 0;
        std::int64_t times = 0;
        pattern takes;
    };

    static constexpr std::size_t beam = 12;
    static constexpr std::size_t max_depth = 6;
    static constexpr std::size_t passes = 6;

    /// `selected` are the heaviest patterns; `excess` is, per class, what they carry minus what is
    /// needed. Returns true if it found patterns with which no class is short.
    [[nodiscard]] bool run(const box& nodes, const sequence<pattern>& selected,
                           const sequence<ingredient>& mix,
                           const detail::sequence<std::int64_t>& weights,
                           const detail::sequence<std::int64_t>& excess, std::int64_t& steps) {
        classes_ = excess.size();
        int128 spare = 0;
        int128 reach = 0;
        std::int64_t heaviest = 0;
        for (std::size_t at = 0; at < classes_; ++at) {
            spare += static_cast<int128>(weights[at]) * excess[at];
            reach += static_cast<int128>(weights[at]) * nodes.upper()[at];
            heaviest = std::max(heaviest, weights[at]);
        }
        if (spare < 0 || reach >= std::numeric_limits<std::int64_t>::max() / 32)
            return false;
        // A deficit in a class of weight 0 must also have a penalty.
        penalties_.resize(classes_);
        for (std::size_t at = 0; at < classes_; ++at)
            penalties_[at] = std::max(weights[at], heaviest / 16 + 1);
        excess_ = excess;
        spare_ = static_cast<std::int64_t>(spare);
        collect(nodes, selected, weights, steps);
        mix_patterns(mix, steps);
        lacking_ = lack(excess_.data());
        for (std::size_t pass = 0; pass < passes && lacking_ > 0 && steps >= 0; ++pass)
            if (!improve(steps))
                break;
        return lacking_ == 0 || search(steps);
    }

    /// After `run`: returns the patterns of all parts, with the number of nodes for each, part by
    /// part.
    [[nodiscard]] const sequence<share>& shares(const box& nodes,
                                                const sequence<pattern>& selected) {
        made_.clear();
        std::size_t next = 0;
        for (std::size_t which = 0; which < nodes.parts().size(); ++which) {
            if (next == cores_.size() || cores_[next].part != which) {
                made_.push_back({which, nodes.parts()[which].times, selected[which]});
                continue;
            }
            for (std::size_t at = 0; at < holders_.size(); ++at)
                if (holders_[at].core == next && holders_[at].times > 0)
                    made_.push_back({which, holders_[at].times, patterns_[holders_[at].takes]});
            ++next;
        }
        return made_;
    }

private:
    /// A part with several patterns that lose no more weight than there is to spare.
    struct core {
        std::size_t part = 0;
        /// The range of its patterns in `patterns_`.
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    /// Nodes of a core that take the same pattern.
    struct holder {
        std::size_t core = 0;
        std::int64_t times = 0;
        /// The place of the pattern in `patterns_`.
        std::size_t takes = 0;
    };
    struct state {
        std::int64_t lacking = 0;
        std::int64_t spare = 0;
        /// The last exchange of the state, a place in `chain_`; 0 if there is none.
        std::size_t link = 0;
    };
    struct link {
        std::size_t before = 0;
        std::size_t holder = 0;
        std::size_t takes = 0;
    };

    [[nodiscard]] std::int64_t lack(const std::int64_t* excess) const noexcept {
        std::int64_t sum = 0;
        for (std::size_t at = 0; at < classes_; ++at)
            sum += penalties_[at] * std::max<std::int64_t>(0, -excess[at]);
        return sum;
    }

    void collect(const box& nodes, const sequence<pattern>& selected,
                 const detail::sequence<std::int64_t>& weights, std::int64_t& steps) {
        cores_.clear();
        holders_.clear();
        patterns_.clear();
        worth_.clear();
        counts_.clear();
        const auto& parts = nodes.parts();
        for (std::size_t which = 0; which < parts.size(); ++which) {
            const auto& part = parts[which];
            if (part.times == 0 || !part.listed)
                continue;
            steps -= 2 + static_cast<std::int64_t>(part.size * classes_ / 4);
            std::int64_t held = 0;
            for (std::size_t at = 0; at < classes_; ++at)
                held += weights[at] * nodes.count(selected[which], at);
            const std::size_t begin = patterns_.size();
            std::size_t takes = begin;
            for (std::size_t number = 0; number < part.size; ++number) {
                std::int64_t weight = 0;
                for (std::size_t at = 0; at < classes_; ++at)
                    weight += weights[at] * nodes.counts_of(part, at)[number];
                if (weight < held - spare_)
                    continue;
                const pattern candidate_pattern = nodes.pattern_of(part, number);
                if (candidate_pattern.first == selected[which].first)
                    takes = patterns_.size();
                patterns_.push_back(candidate_pattern);
                worth_.push_back(weight);
            }
            if (patterns_.size() == begin + 1) {
                patterns_.pop_back();
                worth_.pop_back();
                continue;
            }
            for (std::size_t number = begin; number < patterns_.size(); ++number)
                for (std::size_t at = 0; at < classes_; ++at)
                    counts_.push_back(nodes.count(patterns_[number], at));
            holders_.push_back({cores_.size(), part.times, takes});
            cores_.push_back({which, begin, patterns_.size()});
        }
    }

    [[nodiscard]] std::int64_t change(std::size_t from, std::size_t to,
                                      std::size_t at) const noexcept {
        return counts_[to * classes_ + at] - counts_[from * classes_ + at];
    }

    /// Replaces the heaviest patterns by the mix, as closely as whole nodes allow.
    void mix_patterns(const sequence<ingredient>& mix, std::int64_t& steps) {
        if (mix.size() < 2)
            return;
        errors_.assign(classes_, 0);
        mixed_.clear();
        steps -= static_cast<std::int64_t>(holders_.size() * mix.size());
        for (const holder& from : holders_) {
            options_.clear();
            for (const ingredient& part_of_mix : mix)
                options_.push_back(
                    candidate(from, (*part_of_mix.selection)[cores_[from.core].part].first));
            for (std::size_t at = 0; at < classes_; ++at)
                for (std::size_t number = 0; number < mix.size(); ++number)
                    errors_[at] += static_cast<int128>(mix[number].share) * from.times *
                                   counts_[options_[number] * classes_ + at];
            std::int64_t left = from.times;
            for (std::size_t number = 0; number < mix.size() && from.times > 1; ++number) {
                const auto times =
                    saturate(static_cast<int128>(from.times) * mix[number].share / whole);
                give(from, options_[number], std::min(left, times));
                left -= std::min(left, times);
            }
            for (; left > 0; --left)
                give(from, nearest(left), 1);
        }
        std::swap(holders_, mixed_);
    }

    /// Returns the core's pattern with this place, or the pattern that the holder has.
    [[nodiscard]] std::size_t candidate(const holder& owner, std::size_t first) const noexcept {
        for (std::size_t at = cores_[owner.core].begin; at < cores_[owner.core].end; ++at)
            if (patterns_[at].first == first)
                return at;
        return owner.takes;
    }

    /// Returns the option that leaves the least error if each of the nodes left takes it.
    [[nodiscard]] std::size_t nearest(std::int64_t left) const noexcept {
        std::size_t best = options_.front();
        int128 least = -1;
        for (const std::size_t option : options_) {
            int128 sum = 0;
            for (std::size_t at = 0; at < classes_; ++at) {
                const int128 error = errors_[at] - static_cast<int128>(whole) * left *
                                                       counts_[option * classes_ + at];
                sum += (error < 0 ? -error : error) * penalties_[at];
            }
            if (least >= 0 && sum >= least)
                continue;
            least = sum;
            best = option;
        }
        return best;
    }

    void give(const holder& from, std::size_t takes, std::int64_t times) {
        if (times == 0)
            return;
        for (std::size_t at = 0; at < classes_; ++at) {
            errors_[at] -= static_cast<int128>(whole) * times * counts_[takes * classes_ + at];
            excess_[at] += times * change(from.takes, takes, at);
        }
        spare_ -= times * (worth_[from.takes] - worth_[takes]);
        mixed_.push_back({from.core, times, takes});
    }

    /// Tries to improve every holder once. Returns false if nothing changed.
    [[nodiscard]] bool improve(std::int64_t& steps) {
        bool changed = false;
        trial_.resize(classes_);
        for (std::size_t which = 0; which < holders_.size() && lacking_ > 0; ++which) {
            const holder from = holders_[which];
            const core& within = cores_[from.core];
            steps -= 2 + 3 * static_cast<std::int64_t>(within.end - within.begin);
            std::size_t best = from.takes;
            std::int64_t best_times = 0;
            std::int64_t best_lacking = lacking_;
            for (std::size_t to = within.begin; to < within.end; ++to) {
                if (to == from.takes)
                    continue;
                const std::int64_t loss = worth_[from.takes] - worth_[to];
                for (std::int64_t times = from.times; times > 0; times /= 2) {
                    for (std::size_t at = 0; at < classes_; ++at)
                        trial_[at] = excess_[at] + times * change(from.takes, to, at);
                    const std::int64_t left = lack(trial_.data());
                    if (left >= best_lacking || loss * times > spare_)
                        continue;
                    if (static_cast<int128>(loss) * times * lacking_ >
                        static_cast<int128>(lacking_ - left) * spare_)
                        continue;
                    best = to;
                    best_times = times;
                    best_lacking = left;
                    break;
                }
            }
            if (best_times == 0)
                continue;
            changed = true;
            for (std::size_t at = 0; at < classes_; ++at)
                excess_[at] += best_times * change(from.takes, best, at);
            spare_ -= best_times * (worth_[from.takes] - worth_[best]);
            lacking_ = best_lacking;
            move(which, best, best_times);
        }
        return changed;
    }

    void move(std::size_t which, std::size_t to, std::int64_t times) {
        if (holders_[which].times == times) {
            holders_[which].takes = to;
            return;
        }
        holders_[which].times -= times;
        const std::size_t core_number = holders_[which].core;
        holders_.push_back({core_number, times, to});
    }

    [[nodiscard]] bool search(std::int64_t& steps) {
        chain_.assign(1, {});
        states_.assign(1, {lacking_, spare_, 0});
        amounts_ = excess_;
        for (std::size_t depth = 0; depth < max_depth && !states_.empty(); ++depth) {
            next_.clear();
            next_amounts_.clear();
            for (std::size_t from = 0; from < states_.size(); ++from) {
                steps -= static_cast<std::int64_t>(patterns_.size() * classes_ / 2);
                if (steps < 0)
                    return false;
                for (std::size_t which = 0; which < holders_.size(); ++which) {
                    const core& within = cores_[holders_[which].core];
                    for (std::size_t to = within.begin; to < within.end; ++to)
                        if (to != holders_[which].takes && extend(from, which, to))
                            return true;
                }
            }
            std::swap(states_, next_);
            std::swap(amounts_, next_amounts_);
        }
        return false;
    }

    /// Returns true if the exchange removes the whole deficit, after applying it. Otherwise adds
    /// the new state to the beam if it is among the best.
    [[nodiscard]] bool extend(std::size_t from, std::size_t which, std::size_t to) {
        const std::size_t takes = holders_[which].takes;
        const std::int64_t spare = states_[from].spare - (worth_[takes] - worth_[to]);
        if (spare < 0)
            return false;
        const std::int64_t* held = amounts_.data() + from * classes_;
        std::int64_t lacking = 0;
        for (std::size_t at = 0; at < classes_; ++at)
            lacking +=
                penalties_[at] * std::max<std::int64_t>(0, -(held[at] + change(takes, to, at)));
        if (lacking > 0 && next_.size() == beam && lacking >= next_.back().lacking)
            return false;
        std::int64_t left = holders_[which].times;
        for (std::size_t at = states_[from].link; at != 0 && left > 0; at = chain_[at].before)
            left -= chain_[at].holder == which ? 1 : 0;
        if (left == 0)
            return false;
        if (lacking == 0) {
            finish(states_[from].link);
            move(which, to, 1);
            return true;
        }
        // A state with the same amounts is a duplicate.
        for (std::size_t other = 0; other < next_.size(); ++other) {
            if (next_[other].lacking != lacking)
                continue;
            bool same = true;
            for (std::size_t at = 0; at < classes_; ++at)
                same = same &&
                       next_amounts_[other * classes_ + at] == held[at] + change(takes, to, at);
            if (same)
                return false;
        }
        if (next_.size() < beam) {
            next_.push_back({});
            next_amounts_.resize(next_.size() * classes_);
        }
        std::size_t place = next_.size() - 1;
        for (; place > 0 && next_[place - 1].lacking > lacking; --place) {
            next_[place] = next_[place - 1];
            for (std::size_t at = 0; at < classes_; ++at)
                next_amounts_[place * classes_ + at] = next_amounts_[(place - 1) * classes_ + at];
        }
        chain_.push_back({states_[from].link, which, to});
        next_[place] = {lacking, spare, chain_.size() - 1};
        for (std::size_t at = 0; at < classes_; ++at)
            next_amounts_[place * classes_ + at] = held[at] + change(takes, to, at);
        return false;
    }

    void finish(std::size_t from) {
        for (; from != 0; from = chain_[from].before)
            move(chain_[from].holder, chain_[from].takes, 1);
    }

    std::size_t classes_ = 0;
    detail::sequence<std::int64_t> penalties_;
    sequence<core> cores_;
    sequence<holder> holders_;
    /// The patterns of all cores, core by core.
    sequence<pattern> patterns_;
    detail::sequence<std::int64_t> worth_;
    detail::sequence<std::int64_t> counts_;
    // For mix_patterns:
    detail::sequence<int128> errors_;
    detail::sequence<std::size_t> options_;
    sequence<holder> mixed_;
    // The state after the exchanges made so far:
    detail::sequence<std::int64_t> excess_;
    detail::sequence<std::int64_t> trial_;
    std::int64_t spare_ = 0;
    std::int64_t lacking_ = 0;
    // For the beam search:
    sequence<link> chain_;
    sequence<state> states_;
    sequence<state> next_;
    detail::sequence<std::int64_t> amounts_;
    detail::sequence<std::int64_t> next_amounts_;
    sequence<share> made_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
