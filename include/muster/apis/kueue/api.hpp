// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <boost/json/object.hpp>

#include <muster/apis/kueue/facts.hpp>
#include <muster/gangs/gang_claims.hpp>
#include <muster/gangs/pod_marks.hpp>

namespace muster {
inline namespace v0_1 {
namespace apis {

namespace detail {

[[nodiscard]] inline bool is_positive(std::string_view text) noexcept {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && value > 0;
}

} // namespace detail

/// The marks of Kueue's plain pod groups. Its groups have no objects.
struct kueue_api {
    static constexpr const translate::api_facts& facts = translate::kueue_facts;

    /// A plain pod group of Kueue. Kueue admits it when all its pods are there; with fast
    /// admission, each pod starts when it is there.
    [[nodiscard]] static translate::gang_claim claim(const boost::json::object& pod) {
        using namespace translate;
        gang_claim made{.api = gang_api::kueue};
        const mark_reader read(pod, made);
        read.take(made.group, "labels", keys::kueue_group);
        const std::string in_label = made.group;
        read.take(made.group, "annotations", keys::kueue_group);
        if (const std::string_view note = metadata_entry(pod, "annotations", keys::kueue_group);
            !in_label.empty() && !note.empty() && note != in_label)
            made.error = std::string(keys::kueue_group) + " is '" + in_label +
                         "' as a label and '" + std::string(note) +
                         "' as an annotation (expected them to be equal)";
        const bool is_named = !made.key.empty();
        const std::string_view total = metadata_entry(pod, "annotations", keys::kueue_total);
        if (!is_named && total.data() == nullptr)
            return made;
        made.key = keys::kueue_group;
        made.minimum = total;
        if (!made.error.empty())
            return made;
        if (!is_named)
            made.error = std::string(keys::kueue_total) + " is there, but " +
                         std::string(keys::kueue_group) + " is not (expected both)";
        else if (total.data() == nullptr)
            made.error = std::string(keys::kueue_group) + " is there, but " +
                         std::string(keys::kueue_total) + " is not (expected both)";
        else if (!detail::is_positive(total))
            made.error = std::string(keys::kueue_total) + " says '" + made.minimum +
                         "' (expected a whole number from 1 to 2147483647)";
        else if (metadata_entry(pod, "annotations", keys::kueue_fast) == "true")
            made.minimum = "1";
        return made;
    }
    /// Names without a count make no gang: both belong together.
    [[nodiscard]] static bool stands_alone(const translate::gang_claim&) { return false; }
};

} // namespace apis
} // namespace v0_1
} // namespace muster
