// SPDX-License-Identifier: Apache-2.0
#include <muster/devices/share_acceptance.hpp>

#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

namespace share_acceptance_test {

namespace {

using muster::device_label_operator;
using muster::share_request;
using muster::shared_device;
using indices = std::vector<std::size_t>;

/// A GPU, an unhealthy NIC, and a NIC with functions of the kinds a, a and b.
std::vector<shared_device> node() {
    std::vector<shared_device> all(3);
    all[1].type = all[2].type = "rdma";
    all[1].healthy = false;
    all[2].functions = {
        {"1", 0, {{"kind", "a"}}}, {"2", 0, {{"kind", "a"}}}, {"3", 0, {{"kind", "b"}}}};
    return all;
}

share_request nics(const char* kind) {
    share_request made;
    made.filter.type = "rdma";
    made.function = {{"kind", device_label_operator::in, {kind}}};
    return made;
}

} // namespace

TEST_CASE("the acceptance of a request lists its devices and virtual functions, and of partners") {
    share_request request;
    request.partners = {nics("b")};
    const auto made = muster::detail::acceptance_of(request, node());
    CHECK(made.filtered == indices{0});
    CHECK(made.candidates == indices{0});
    CHECK(made.functions.empty());
    REQUIRE(made.partners.size() == 1);
    CHECK(made.partners[0].filtered == indices{1, 2});
    CHECK(made.partners[0].candidates == indices{2});
    CHECK_FALSE(made.partners[0].accepts(1));
    CHECK(made.partners[0].accepts(2));
    CHECK(made.partners[0].functions[2] == std::vector<bool>{false, false, true});
    CHECK(made.partners[0].next_function(2, {false, false, false}, 0) == 2);
    CHECK(made.partners[0].next_function(2, {false, false, true}, 0) == 3);
}

TEST_CASE("requests with equal filters, functions and partners accept the same") {
    const share_request one = nics("a");
    share_request other = one;
    other.count = 7;
    other.pod = 3;
    CHECK(muster::detail::accept_the_same(one, other));
    CHECK_FALSE(muster::detail::accept_the_same(one, nics("b")));
    other.partners = {nics("b")};
    CHECK_FALSE(muster::detail::accept_the_same(one, other));
    share_request malformed = one;
    malformed.cores = -1;
    CHECK_FALSE(muster::detail::accept_the_same(one, malformed));
}

TEST_CASE("virtual functions that the same requests accept are of one kind") {
    const auto devices = node();
    const auto kinds = [&](const std::vector<share_request>& requests) {
        std::vector<muster::detail::share_acceptance> all;
        for (const share_request& each : requests)
            all.push_back(muster::detail::acceptance_of(each, devices));
        return muster::detail::function_kinds(all, devices)[2];
    };
    CHECK(kinds({nics("c")}) == indices{0, 0, 0});
    CHECK(kinds({nics("a")}) == indices{1, 1, 0});
    CHECK(kinds({nics("a"), nics("b")}) == indices{1, 1, 2});
    share_request any = nics("a");
    any.function->clear();
    CHECK(kinds({any}) == indices{1, 1, 1});
}

} // namespace share_acceptance_test
