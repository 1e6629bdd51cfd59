// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/shares/share_fields.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/base/checked.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/document/metadata_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A part of a request that a translation of shares could not express.
struct share_loss {
    /// The field of the source, with its value or its container.
    std::string field;
    /// What is lost, and what it becomes.
    std::string what;

    [[nodiscard]] friend bool operator==(const share_loss&, const share_loss&) = default;
};

/// What a translation of shares changes in a pod.
struct share_translation {
    /// False = the pod stays as it is: it has no shares of another notation, or they cannot be
    /// translated, and `losses` say why.
    bool changes = false;
    /// Names of resources that containers no longer request.
    std::vector<std::string> dropped_resources;
    std::vector<std::string> dropped_annotations;
    /// New limits by container (init containers first) and resource; the amounts are quantities.
    std::map<std::size_t, std::map<std::string, std::string>> limits;
    std::map<std::string, std::string> annotations;
    std::vector<share_loss> losses;
};

/// Which constraints on devices a notation can express for a request.
struct said_wishes {
    bool models = false;
    bool models_not = false;
    bool ids = false;
    bool ids_not = false;
    bool modes = false;
    bool nearness = false;
    bool group = false;
};

/// True if the request is for whole GPUs: all memory and all cores.
[[nodiscard]] inline bool is_whole(const share_request& of) noexcept {
    return std::holds_alternative<whole_memory>(of.memory) && of.cores == 100;
}

/// Builds a share_translation: the functions that write requests in the notation of a system add
/// limits, annotations and losses.
///
/// Preconditions for these functions: there is at least one request; amounts of memory are in MiB,
/// parts are between 0 and 1 (exclusive), cores are from 0 to 100 (percent), and no number exceeds
/// int32.
class share_draft {
public:
    /// The arguments must outlive the draft. `first`: position of the first container that is not
    /// in the list of init containers.
    share_draft(const object_metadata& pod, const std::vector<container_resources>& containers,
                std::size_t first, share_fields from, std::string_view to)
        : pod_(&pod), containers_(&containers), first_(first), from_(std::move(from)), to_(to) {}

    [[nodiscard]] const share_fields& from() const noexcept { return from_; }
    [[nodiscard]] std::size_t first_container() const noexcept { return first_; }
    [[nodiscard]] const container_resources& container(std::size_t at) const {
        return (*containers_)[at];
    }

    void limit(std::size_t container, std::string_view resource, std::string amount) {
        made_.limits[container].insert_or_assign(std::string(resource), std::move(amount));
    }
    void limit(std::size_t container, std::string_view resource, std::int64_t amount) {
        limit(container, resource, std::to_string(amount));
    }
    void annotate(std::string_view key, std::string value) {
        made_.annotations.insert_or_assign(std::string(key), std::move(value));
    }
    void annotate(std::string_view key, const std::vector<std::string>& words, char separator) {
        std::string text;
        for (const std::string& each : words)
            text += (text.empty() ? "" : std::string(1, separator)) + each;
        annotate(key, std::move(text));
    }

    /// Adds a loss. `field`: a field of from(). If the container does not have it, the loss names
    /// the field that implies it.
    void lose(std::string_view field, std::size_t container, std::string what) {
        share_loss lost{text_of(field, container), std::move(what)};
        if (std::find(made_.losses.begin(), made_.losses.end(), lost) == made_.losses.end())
            made_.losses.push_back(std::move(lost));
    }
    /// Leaves the pod as it is, because the target cannot express the requests.
    void refuse(std::string_view field, std::size_t container, const std::string& why) {
        refuse(text_of(field, container), why);
    }
    void refuse(std::string field, const std::string& why) {
        refusals_.push_back({std::move(field), why + "; the pod stays as it is"});
    }
    [[nodiscard]] bool is_refused() const noexcept { return !refusals_.empty(); }

    /// Returns the requested part of a GPU's memory in units of 1/`of`, at least 1. It is rounded
    /// up, and then a loss. Precondition: the request is for a part.
    [[nodiscard]] std::int64_t parts_of(const container_share& asked, std::int64_t of,
                                        std::string_view unit) {
        const auto& part = std::get<memory_part>(asked.request.memory);
        const int128 exact = static_cast<int128>(part.parts) * of;
        const auto made =
            std::max<std::int64_t>(saturate((exact + part.of - 1) / part.of), std::int64_t{1});
        if (static_cast<int128>(made) * part.of != exact)
            lose(from_.part, asked.container,
                 "rounded up to " + std::to_string(made) + " " + std::string(unit));
        return made;
    }

    /// Adds a loss for each constraint on devices that the target does not express.
    void lose_wishes(const container_share& asked, const said_wishes& said) {
        const share_request& of = asked.request;
        const auto lose_one = [&](bool is_asked, bool is_said, std::string_view field,
                                  const char* what) {
            if (is_asked && !is_said)
                lose(field, asked.container, to_ + what);
        };
        const share_filter& filter = of.filter;
        lose_one(filter.models || filter.model_names, said.models, from_.models,
                 " cannot say these models");
        lose_one(!filter.models_not.empty(), said.models_not, from_.models_not,
                 " cannot exclude these models");
        lose_one(filter.ids.has_value(), said.ids, from_.ids, " cannot name these GPUs");
        lose_one(!filter.ids_not.empty(), said.ids_not, from_.ids_not,
                 " cannot exclude these GPUs");
        lose_one(filter.modes.has_value(), said.modes, from_.modes, " cannot say this mode");
        lose_one(of.within != share_nearness::anywhere, said.nearness, from_.nearness,
                 " cannot keep the GPUs at this place");
        lose_one(of.apart_from_group, said.group, from_.group,
                 " cannot keep the pods of a group apart");
    }

    /// Adds the loss of whole names of models that become parts of names, or the other way round.
    void lose_match_of_models(const container_share& asked, bool to_parts) {
        lose(from_.models, asked.container,
             to_ + (to_parts ? " accepts every model whose name contains one of these"
                             : " accepts these models only by their whole names"));
    }

    [[nodiscard]] share_translation done() && {
        if (is_refused()) {
            share_translation kept;
            kept.losses = std::move(refusals_);
            return kept;
        }
        made_.changes = true;
        return std::move(made_);
    }

    /// Drops all fields of the source that the pod has.
    void drop_source() {
        for (const std::string_view key : from_.annotations)
            if (pod_->annotations.find(key))
                made_.dropped_annotations.emplace_back(key);
        for (const std::string_view resource : from_.resources) {
            const auto names = [&](const container_resources& each) {
                return each.amounts.requests.contains(std::string(resource)) ||
                       each.amounts.limits.contains(std::string(resource));
            };
            if (std::any_of(containers_->begin(), containers_->end(), names))
                made_.dropped_resources.emplace_back(resource);
        }
    }

private:
    [[nodiscard]] std::string text_of(std::string_view field, std::size_t container) const {
        if (const std::string* const value = pod_->annotations.find(field))
            return std::string(field) + " " + *value;
        const container_resources& of = (*containers_)[container];
        if (detail::find_amount(of, field))
            return std::string(field) + " of container " + of.name;
        for (const std::string_view other : from_.resources)
            if (detail::find_amount(of, other))
                return std::string(other) + " of container " + of.name;
        for (const std::string_view other : from_.annotations)
            if (const std::string* const value = pod_->annotations.find(other))
                return std::string(other) + " " + *value;
        return std::string(field) + " of container " + of.name;
    }

    const object_metadata* pod_;
    const std::vector<container_resources>* containers_;
    std::size_t first_;
    share_fields from_;
    std::string to_;
    share_translation made_;
    std::vector<share_loss> refusals_;
};

namespace detail {

/// True if a list with this separator can hold the words: there is at least one, and no word is
/// empty, has the separator, or begins or ends with a blank.
[[nodiscard]] inline bool can_list(const std::vector<std::string>& words, char separator) {
    return !words.empty() && std::all_of(words.begin(), words.end(), [&](const std::string& each) {
        return !each.empty() && each.find(separator) == std::string::npos &&
               without_blanks(each) == each;
    });
}

/// Writes the models of a request as a list of parts of names, as HAMi and Volcano do. Returns
/// false if such a list cannot express them.
[[nodiscard]] inline bool say_models(const container_share& asked, std::string_view key,
                                     share_draft& out) {
    const share_filter& filter = asked.request.filter;
    const auto& words = filter.models ? filter.models : filter.model_names;
    if (!words || !can_list(*words, ','))
        return false;
    out.annotate(key, *words, ',');
    if (!filter.models)
        out.lose_match_of_models(asked, true);
    return true;
}

/// Writes a list. Returns false if a list cannot hold the words.
[[nodiscard]] inline bool say_words(const std::vector<std::string>& words, std::string_view key,
                                    share_draft& out) {
    if (!can_list(words, ','))
        return false;
    out.annotate(key, words, ',');
    return true;
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
