// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/grove/names.hpp>
#include <muster/apis/grove/pod_gang_reader.hpp>
#include <muster/apis/kai/group_reader.hpp>
#include <muster/apis/scheduler_plugins/group_reader.hpp>
#include <muster/apis/t9k/group_reader.hpp>
#include <muster/apis/volcano/group_reader.hpp>
#include <muster/apis/workload/group_reader.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/input/gang_book.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

inline constexpr std::string_view t9k_group_version = "scheduler.tensorstack.dev/v1beta1";
inline constexpr std::string_view kai_group_version = "scheduling.run.ai/v2alpha2";
inline constexpr std::string_view sigs_group_version = "scheduling.sigs.k8s.io/v1alpha1";
inline constexpr std::string_view plugins_group_version = "scheduling.x-k8s.io/v1alpha1";
/// The last is kube-batch's, from which Volcano's come.
inline constexpr std::array<std::string_view, 4> volcano_group_versions{
    "scheduling.volcano.sh/v1beta1", "scheduling.volcano.sh/v1alpha2",
    "scheduling.volcano.sh/v1alpha1", "scheduling.incubator.k8s.io/v1alpha1"};

[[nodiscard]] inline bool is_volcano(std::string_view version) {
    return std::ranges::find(volcano_group_versions, version) != volcano_group_versions.end();
}

[[nodiscard]] inline bool is_pod_gang(std::string_view version, std::string_view kind) {
    return version == translate::grove::scheduler_api_version && kind == "PodGang";
}

/// Whose groups such objects are; PodGangs, of which other groups are made, are not among them.
[[nodiscard]] inline translate::gang_api group_api(std::string_view version,
                                                   std::string_view kind) {
    using translate::gang_api;
    if (workload_groups::understands(version, kind))
        return gang_api::workload;
    if (kind != "PodGroup")
        return gang_api::none;
    return version == t9k_group_version   ? gang_api::t9k
           : version == kai_group_version ? gang_api::kai
           : is_volcano(version)          ? gang_api::volcano
           : version == sigs_group_version || version == plugins_group_version
               ? gang_api::coscheduling
               : gang_api::none;
}

/// Reads objects that are gangs of any API into a book.
class group_objects {
public:
    group_objects(gang_book& book, reading_context& context, diagnostics& out)
        : book_(&book), context_(&context), out_(&out) {}

    /// False, and nothing was read, when such objects are no gangs.
    bool take(object_reader& object, std::string_view version, std::string_view kind,
              const object_place& where) {
        using translate::gang_api;
        if (is_pod_gang(version, kind)) {
            pod_gang read = read_pod_gang(object, *context_, where);
            const std::size_t at =
                book_->define(gang_api::grove, std::move(read.made), book_->reserve());
            for (auto& [pod, leaf] : read.pods)
                book_->refer(std::move(pod), at, leaf);
            return true;
        }
        const gang_api api = group_api(version, kind);
        switch (api) {
        case gang_api::none:
        case gang_api::grove:
        case gang_api::kueue:
            return false;
        case gang_api::t9k:
            book_->define(api, read_t9k_group(object, *context_, where), book_->reserve());
            break;
        case gang_api::coscheduling:
            book_->define(api,
                          read_coscheduling_group(object, version == sigs_group_version, *context_,
                                                  where, *out_, book_->stands()),
                          book_->reserve());
            break;
        case gang_api::volcano:
            book_->define(api, read_volcano_group(object, *context_, where), book_->reserve());
            break;
        case gang_api::kai:
            book_->define(api, read_kai_group(object, *context_, where), book_->reserve());
            break;
        case gang_api::workload:
            workloads_.read(object, version, kind, *context_, where, book_->reserve());
            break;
        }
        return true;
    }

    /// Hands those over that wait for others.
    void finish() { workloads_.finish(*book_, *out_); }

private:
    gang_book* book_;
    reading_context* context_;
    diagnostics* out_;
    workload_groups workloads_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
