// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <muster/gangs/api_facts.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace keys {
/// Annotations of a template by which Kueue places the pods made of it.
inline constexpr std::string_view kueue_required = "kueue.x-k8s.io/podset-required-topology";
inline constexpr std::string_view kueue_preferred = "kueue.x-k8s.io/podset-preferred-topology";
inline constexpr std::string_view kueue_slice_required =
    "kueue.x-k8s.io/podset-slice-required-topology";
inline constexpr std::string_view kueue_slice_size = "kueue.x-k8s.io/podset-slice-size";
inline constexpr std::string_view kueue_podset_group = "kueue.x-k8s.io/podset-group-name";

/// The marks of Kueue's plain pod groups. The group's name is a label, or an annotation where
/// Kueue's gate WorkloadIdentifierAnnotations is on.
inline constexpr std::string_view kueue_group = "kueue.x-k8s.io/pod-group-name";
inline constexpr std::string_view kueue_total = "kueue.x-k8s.io/pod-group-total-count";
inline constexpr std::string_view kueue_fast = "kueue.x-k8s.io/pod-group-fast-admission";
inline constexpr std::string_view kueue_serving = "kueue.x-k8s.io/pod-group-serving";
inline constexpr std::string_view kueue_retriable = "kueue.x-k8s.io/retriable-in-group";
} // namespace keys

namespace detail {
inline constexpr std::array kueue_marks{
    gang_mark{mark_place::label, keys::kueue_group, mark_use::membership},
    gang_mark{mark_place::annotation, keys::kueue_group, mark_use::membership},
    gang_mark{mark_place::annotation, keys::kueue_total},
    gang_mark{mark_place::annotation, keys::kueue_fast},
    gang_mark{mark_place::annotation, keys::kueue_serving},
    gang_mark{mark_place::annotation, keys::kueue_retriable}};
} // namespace detail

/// Kueue is no scheduler, and its gate stays until Kueue removes it.
inline constexpr api_facts kueue_facts{
    .api = gang_api::kueue, .marks = detail::kueue_marks, .owns_scheduler = false};

} // namespace translate
} // namespace v0_1
} // namespace muster
