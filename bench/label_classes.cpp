// SPDX-License-Identifier: Apache-2.0
#include "label_classes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "books.hpp"
#include "muster_engine.hpp"
#include "statistics.hpp"
#include "stopwatch.hpp"

namespace bench {

namespace {

/// Gangs that all select one class, on a cluster whose other classes are as full.
class one_class {
public:
    /// `of` classes; the index knows all nodes, or those of the class alone.
    one_class(const label_class_options& options, bool alone)
        : options_(options),
          alone_(alone),
          nodes_(chosen(options, alone)),
          engine_(nodes_),
          books_(of_class(options)) {
        if (!alone)
            fill_others();
    }

    /// Times of gangs in the order in which they are asked, and where each stands.
    void run() {
        workload_options work = options_.work;
        work.nodes = books_.nodes().size();
        work.pools = 1;
        work.largest_gang = 16;
        gang_stream<4> arriving(work);
        for (std::size_t asked = 0; asked < options_.settle + options_.gangs; ++asked) {
            while (books_.utilisation() >= 0.8 && !alive_.empty())
                release(asked >= options_.settle);
            gang_spec<4> what = arriving.next();
            what.pool = alone_ ? no_pool : 0;
            const std::uint32_t number = engine_.submit(what);
            bool starts = false;
            const double took = stopwatch::time([&] { starts = engine_.start(number); });
            if (asked >= options_.settle)
                start_ns.push_back(took);
            if (!starts) {
                engine_.forget(number);
                stands.emplace_back();
                if (!alive_.empty())
                    release(asked >= options_.settle);
                continue;
            }
            engine_.withdraw_surplus(number);
            std::vector<placed> members = engine_.placements();
            for (placed& one : members)
                one.node = numbers_[one.node];
            pods += asked >= options_.settle ? members.size() : 0U;
            gang_spec<4> anywhere = what;
            anywhere.pool = no_pool;
            books_.start(anywhere, members);
            stands.push_back(members);
            alive_.push_back({number, std::move(anywhere), std::move(members)});
        }
    }

    std::vector<double> start_ns;
    std::vector<std::vector<placed>> stands;
    double release_ns = 0.0;
    std::size_t pods = 0;
    std::size_t pods_left = 0;

private:
    struct running {
        std::uint32_t number;
        gang_spec<4> gang;
        std::vector<placed> members;
    };

    static std::vector<node_spec<4>> of_class(const label_class_options& options) {
        std::vector<node_spec<4>> found = make_nodes<4>(options.work);
        std::erase_if(found, [](const node_spec<4>& each) { return each.pool != 0; });
        return found;
    }
    /// Numbers the nodes of the class in their order.
    std::vector<node_spec<4>> chosen(const label_class_options& options, bool alone) {
        std::vector<node_spec<4>> found = alone ? of_class(options) : make_nodes<4>(options.work);
        std::uint32_t next = 0;
        for (const node_spec<4>& each : found)
            numbers_.push_back(each.pool == 0 ? next++ : 0);
        return found;
    }

    void release(bool timed) {
        const running& oldest = alive_.front();
        const double took = stopwatch::time([&] { engine_.release(oldest.number); });
        release_ns += timed ? took : 0.0;
        pods_left += timed ? oldest.members.size() : 0U;
        engine_.forget(oldest.number);
        books_.release(oldest.gang, oldest.members);
        alive_.pop_front();
    }

    /// Every other class is asked until it refuses ten gangs.
    void fill_others() {
        workload_options work = options_.work;
        work.pools = 1;
        work.largest_gang = 16;
        work.seed += 500;
        gang_stream<4> arriving(work);
        for (std::int32_t pool = 1; pool < options_.work.pools; ++pool) {
            for (int refused = 0; refused < 10;) {
                gang_spec<4> what = arriving.next();
                what.pool = pool;
                const std::uint32_t number = engine_.submit(what);
                if (engine_.start(number)) {
                    engine_.withdraw_surplus(number);
                } else {
                    engine_.forget(number);
                    ++refused;
                }
            }
        }
    }

    label_class_options options_;
    bool alone_;
    /// Per node of the index: its number in the class.
    std::vector<std::uint32_t> numbers_;
    std::vector<node_spec<4>> nodes_;
    muster_engine<4> engine_;
    books<4> books_;
    std::deque<running> alive_;
};

label_class_cost cost_of(const label_class_options& options, bool alone,
                         std::vector<std::vector<placed>>& stands) {
    std::vector<double> least;
    std::vector<double> releases;
    label_class_cost found;
    for (std::size_t round = 0; round < options.repeats; ++round) {
        one_class one(options, alone);
        one.run();
        if (least.empty())
            least = one.start_ns;
        for (std::size_t at = 0; at < least.size(); ++at)
            least[at] = std::min(least[at], one.start_ns[at]);
        releases.push_back(one.release_ns / static_cast<double>(one.pods_left));
        found.pods = one.pods;
        stands = std::move(one.stands);
    }
    found.gang_p50_ns = percentile(least, 0.5);
    double sum = 0.0;
    for (const double each : least)
        sum += each;
    found.ns_per_pod = sum / static_cast<double>(found.pods);
    found.release_ns_per_pod = percentile(releases, 0.0);
    return found;
}

} // namespace

label_class_report measure_label_classes(const label_class_options& options) {
    std::vector<std::vector<placed>> in_one_tree;
    std::vector<std::vector<placed>> in_its_own;
    label_class_report report;
    report.one_tree = cost_of(options, false, in_one_tree);
    report.own_tree = cost_of(options, true, in_its_own);
    if (in_one_tree != in_its_own)
        fail("a tree of its own places the gangs of a label class otherwise");
    return report;
}

} // namespace bench
