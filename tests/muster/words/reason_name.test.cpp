// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include <muster/words/reason_name.hpp>

namespace words_reason_name_test {

using namespace muster;

TEST_CASE("a reason has the name of its code") {
    reason what;
    what.code = reason_code::untolerated_taint;
    CHECK(words::reason_name(what) == "UntoleratedTaint");
    what.code = reason_code::anti_affinity_met;
    what.topology = "topology.kubernetes.io/zone";
    CHECK(words::reason_name(what) == "AntiAffinityMet");
}

TEST_CASE("a pod term that stands for a volume has the name of a reason about volumes") {
    for (const std::string_view label :
         {volume_node_label, volume_cluster_label, volume_supply_label}) {
        reason what;
        what.code = reason_code::anti_affinity_met;
        what.topology = label;
        CHECK(words::keeps_volumes_apart(what));
        CHECK(words::reason_name(what) == "VolumeInUse");
    }
    reason shared;
    shared.code = reason_code::topology_fragmented;
    shared.shares_volume = true;
    shared.topology = volume_node_label;
    CHECK_FALSE(words::keeps_volumes_apart(shared));
    CHECK(words::reason_name(shared) == "VolumeOutOfReach");
}

TEST_CASE("the list of names has every name once") {
    const auto all = words::all_reason_names();
    CHECK(std::set<std::string_view>(all.begin(), all.end()).size() == all.size());
    for (const std::string_view name : reason_names)
        CHECK(std::ranges::count(all, name) == 1);
    CHECK(std::ranges::count(all, words::volume_in_use) == 1);
}

TEST_CASE("kinds of reasons and answers have stable names") {
    CHECK(words::reason_kind_name(reason_kind::blocking) == "blocking");
    CHECK(words::reason_kind_name(reason_kind::blocking_together) == "blockingTogether");
    CHECK(words::reason_kind_name(reason_kind::contributing) == "contributing");
    CHECK(words::answer_name(answer::admitted) == "admitted");
    CHECK(words::answer_name(answer::waiting) == "waiting");
    CHECK(words::answer_name(answer::never) == "never");
    CHECK(words::answer_name(answer::undecided) == "undecided");
}

} // namespace words_reason_name_test
