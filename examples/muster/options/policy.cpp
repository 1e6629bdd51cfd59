// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "choices.hpp"
#include "policy.hpp"

namespace cli {

void add_policy(CLI::App& to, policy_options& how) {
    static const std::map<std::string, surplus_kind> surpluses{{"at-once", surplus_kind::at_once},
                                                               {"in-turn", surplus_kind::in_turn},
                                                               {"level", surplus_kind::level}};
    const auto place_surplus = [&how](surplus_kind which) { how.surplus = which; };
    static const std::map<std::string, backfill_kind> backfills{
        {"none", backfill_kind::none},
        {"easy", backfill_kind::easy},
        {"conservative", backfill_kind::conservative}};
    static const std::map<std::string, preemption_kind> preemptions{
        {"none", preemption_kind::none},
        {"queues", preemption_kind::queues},
        {"queue", preemption_kind::own_queue},
        {"both", preemption_kind::both},
        {"fair-share", preemption_kind::reclaim_fair_share},
        {"deserved", preemption_kind::reclaim_deserved},
        {"queues-say", preemption_kind::kueue_preemption}};
    static const std::map<std::string, profile> profiles{
        {"t9k", {"priority", preemption_kind::queues, false, surplus_kind::at_once}},
        {"kai", {"fair-share", preemption_kind::reclaim_fair_share, true, surplus_kind::level}},
        {"volcano", {"due", preemption_kind::reclaim_deserved, false, surplus_kind::in_turn}},
        {"kueue", {"borrowing", preemption_kind::kueue_preemption, false, surplus_kind::at_once}}};
    // Added first, so that the options after it override its settings.
    to.add_option_function<std::string>(
          "--profile",
          [&how, place_surplus](const std::string& text) {
              const profile& chosen = profiles.at(text);
              how.queue_order.choose(chosen.queues);
              how.preempt = chosen.victims;
              // Only the KAI profile consolidates.
              how.consolidate = how.consolidate_as_kai = chosen.consolidates;
              place_surplus(chosen.surplus);
          },
          "Policy options of another scheduler; options given besides override it. t9k: "
          "--queue-order priority --surplus at-once --preempt queues; kai: --queue-order "
          "fair-share --surplus level --preempt fair-share --consolidate; volcano: --queue-order "
          "due --surplus in-turn --preempt deserved; kueue: --queue-order borrowing --surplus "
          "at-once --preempt queues-say (default: none)")
        ->check(one_of(profiles));
    add_choice(
        to, "--score", how.score,
        "Choice of node among those that a pod fits (default: best-fit). avoid-scarce: nodes "
        "without extended resources that the pod does not request. fgd: the node on which the pod "
        "leaves the fewest GPUs that typical pods cannot use. power: the node whose power rises "
        "least");
    to.add_option_function<std::vector<std::string>>(
          "--score-weight",
          [&how](const std::vector<std::string>& all) {
              for (const std::string& text : all) {
                  const std::size_t equals = text.find('=');
                  const std::string digits = equals == text.npos ? "" : text.substr(equals + 1);
                  const bool small = digits.size() == 1 && digits[0] >= '0' && digits[0] <= '9';
                  if (equals == 0 || !(small || digits == "10"))
                      throw CLI::ValidationError("--score-weight",
                                                 muster::codec::in_quotes(text) +
                                                     " is no weight of a resource (expected e.g. "
                                                     "nvidia.com/gpu=5, with 0 to 10)");
                  how.score_weights[text.substr(0, equals)] =
                      static_cast<std::uint8_t>(digits == "10" ? 10 : digits[0] - '0');
              }
          },
          "Weight of a resource in the scores that weigh resources, 0 to 10 "
          "(default: cpu=1 and memory=1, others 0); may be repeated")
        ->allow_extra_args(false)
        ->type_name("RESOURCE=N");
    add_choice(
        to, "--order", how.order,
        "Order of the groups in a queue (default: priority, then age). aging: one hour of waiting "
        "counts as one point of priority");
    add_choice(
        to, "--queue-order", how.queue_order,
        "Order of queues (default: priority). priority: by priority, then the smaller dominant "
        "share of the quota; weighted: the smaller share of the cluster for its weight; deserved: "
        "queues that use no more than they deserve first; fair-share: queues within their fair "
        "share first (KAI); due: by priority, then the smaller share of the amount due (Volcano); "
        "borrowing: queues whose next group needs no borrowing first (Kueue); next-group: the "
        "queue "
        "whose next group has the highest priority and is the oldest");
    to.add_option_function<std::string>(
          "--surplus",
          [place_surplus](const std::string& text) { place_surplus(surpluses.at(text)); },
          "Placement of members beyond a group's minima (default: at-once). at-once: directly "
          "after the minima; in-turn: one at a time after the minima of all groups of the same "
          "priority, role by role; level: the same, for the role with the fewest members")
        ->check(one_of(surpluses));
    add_choice(to, "--backfill", how.backfill, backfills,
               "Waiting groups whose start no other group may delay, planned from declared "
               "durations (default: none). easy: the first group; conservative: the first 16");
    add_choice(to, "--preempt", how.preempt, preemptions,
               "Pods that may be evicted for a waiting group (default: none). queues: those of "
               "preemptible queues of lower priority; queue: those of lower priority in the "
               "group's queue; both: both, but in the group's queue only if that is preemptible; "
               "fair-share: those of lower priority in the group's "
               "queue, and those of other queues beyond their fair share, also for members beyond "
               "the minima; deserved: the same, for queues beyond what they deserve; queues-say: "
               "as each queue says (Kueue)");
    to.add_flag("--consolidate,!--no-consolidate", how.consolidate,
                "Move preemptible pods to other nodes if a waiting group then starts (default: "
                "off)");
    to.add_option("--patience", how.bypasses,
                  "Number of groups that may start ahead of a waiting group before room is "
                  "reserved for it (default: no limit)")
        ->check([](const std::string& text) {
            return text.starts_with('-')
                       ? muster::codec::in_quotes(text) + " is too small (expected at least 0)"
                       : std::string();
        })
        ->type_name("N");
}

} // namespace cli
