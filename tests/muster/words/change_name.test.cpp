// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>
#include <string_view>
#include <vector>

#include <muster/words/change_name.hpp>

namespace words_change_name_test {

using namespace muster;
using words::change_code;

TEST_CASE("every change has a name of its own") {
    raise_quota deserved;
    deserved.non_preemptible = true;
    const std::vector<change> all{free_pods{},
                                  add_nodes{},
                                  uncordon_nodes{},
                                  raise_quota{},
                                  deserved,
                                  open_queue{},
                                  tolerate_taint{},
                                  drop_label{},
                                  drop_affinity{},
                                  drop_pod_terms{pod_term_kind::affinity},
                                  drop_pod_terms{pod_term_kind::anti_affinity},
                                  drop_pod_terms{pod_term_kind::spread},
                                  drop_domain{},
                                  ready_volumes{},
                                  lower_minimum{}};
    std::set<std::string_view> names;
    for (const change& each : all)
        names.insert(name_of(words::code_of(each)));
    CHECK(names == std::set<std::string_view>(std::begin(words::change_names),
                                              std::end(words::change_names)));
}

TEST_CASE("the names of changes stay as they are") {
    CHECK(name_of(change_code::free_pods) == "FreePods");
    CHECK(name_of(words::code_of(drop_label{"disk"})) == "DropNodeSelector");
    CHECK(name_of(words::code_of(drop_pod_terms{pod_term_kind::spread})) == "DropTopologySpread");
    CHECK(name_of(words::code_of(ready_volumes{})) == "BindClaims");
    CHECK(name_of(change_code::lower_minimum) == "LowerMinimum");
}

} // namespace words_change_name_test
