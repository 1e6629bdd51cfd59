// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <muster/apis/openb/pod_requests.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Reads the GPUs that the annotations of a pod of openb name, with its share of each. Returns
/// nullopt if they name none. If they cannot be read, `unread` is set: the free GPUs of the pod's
/// node are unknown, so no pod may get a GPU of this node. O(annotations).
[[nodiscard]] inline std::optional<pod_shares> read_openb_pod(const object_metadata& pod,
                                                              diagnostics& out) {
    const metadata_text index_at(pod, "pod", openb::index_key, out);
    const metadata_text milli_at(pod, "pod", openb::milli_key, out);
    if (index_at.text().empty())
        return std::nullopt;
    pod_shares read;
    read.pod = pod.key.name_space + "/" + pod.key.name;
    const auto indices = detail::openb_indices(index_at.text());
    const auto milli = detail::whole_number(milli_at.text(), 0, openb::whole_gpu);
    if (!indices || !milli) {
        const metadata_text& at = indices ? milli_at : index_at;
        const std::string wrong =
            in_quotes(at.text()) + (indices ? " (expected a whole number from 0 to 1000)"
                                            : " (expected different indices, such as 2-3)");
        read.unread = at.text_of(wrong);
        at.warning(wrong);
        return read;
    }
    for (const std::string& index : *indices)
        read.shares.push_back({index, memory_amount{*milli}, 0, 0});
    return read;
}

/// Returns the annotation that names the GPUs of a pod. O(shares).
[[nodiscard]] inline share_marks openb_marks(const std::vector<chosen_share>& shares) {
    std::string indices;
    for (const chosen_share& share : shares)
        indices += (indices.empty() ? "" : "-") + share.device;
    share_marks marks;
    marks.annotations.emplace(openb::index_key, indices);
    return marks;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
