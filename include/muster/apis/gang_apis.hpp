// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>
#include <type_traits>

#include <muster/apis/ack/api.hpp>
#include <muster/apis/grove/api.hpp>
#include <muster/apis/kai/api.hpp>
#include <muster/apis/koordinator/api.hpp>
#include <muster/apis/kueue/api.hpp>
#include <muster/apis/scheduler_plugins/api.hpp>
#include <muster/apis/t9k/api.hpp>
#include <muster/apis/volcano/api.hpp>
#include <muster/apis/workload/api.hpp>
#include <muster/apis/yunikorn/api.hpp>
#include <muster/gangs/gang_api.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

/// What Muster does with the gang APIs of translate::gang_facts, a record each: static functions
/// that read the marks of pods and the objects of groups, and write them. A record has those that
/// make sense for its API; see the README.md of this folder.
using gang_apis = std::tuple<t9k_api, ack_api, scheduler_plugins_api, volcano_api, koordinator_api,
                             kai_api, workload_api, grove_api, kueue_api, yunikorn_api>;

namespace detail {

template<class... Api, class Visit>
constexpr bool until(std::type_identity<std::tuple<Api...>>, const Visit& visit) {
    return (visit.template operator()<Api>() || ...);
}

} // namespace detail

/// Calls `visit.operator()<Api>()` for the record of each API, until one call returns true. Returns
/// true if one did.
template<class Visit>
constexpr bool find_api(const Visit& visit) {
    return detail::until(std::type_identity<gang_apis>{}, visit);
}

} // namespace apis
} // namespace v0_1
} // namespace muster
