// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/request_reader.hpp>
#include <muster/apis/shares/share_translation.hpp>
#include <muster/resource/quantity_text.hpp>

/// Pods with shares of GPUs, for the tests of their translation.
namespace share_pods {

using namespace muster::codec;

using amounts = std::map<std::string, std::string>;

inline constexpr std::array all_systems{share_system::hami, share_system::volcano,
                                        share_system::koordinator, share_system::kai,
                                        share_system::openb};

/// A pod with containers c0, c1, ... that have these limits.
struct pod {
    std::vector<amounts> limits;
    amounts annotations = {};

    [[nodiscard]] share_template made() const {
        share_template of;
        for (const auto& [key, value] : annotations)
            of.metadata.annotations.set(key, value);
        for (std::size_t at = 0; at < limits.size(); ++at) {
            container_resources container;
            container.name = "c" + std::to_string(at);
            for (const auto& [resource, amount] : limits[at])
                if (const auto parsed = muster::parse_quantity(amount))
                    container.amounts.limits.emplace(
                        resource, named_amount{request_milli(*parsed), parsed->format()});
            of.containers.push_back(std::move(container));
        }
        return of;
    }

    /// The pod with the changes of a translation.
    [[nodiscard]] pod with(const share_translation& changes) const {
        pod made = *this;
        for (amounts& each : made.limits)
            for (const std::string& name : changes.dropped_resources)
                each.erase(name);
        for (const std::string& key : changes.dropped_annotations)
            made.annotations.erase(key);
        for (const auto& [at, limits_of] : changes.limits)
            for (const auto& [resource, amount] : limits_of)
                made.limits[at].insert_or_assign(resource, amount);
        for (const auto& [key, value] : changes.annotations)
            made.annotations.insert_or_assign(key, value);
        return made;
    }

    /// `c0{resource: amount, ...} annotation: value, ...`
    [[nodiscard]] std::string text() const {
        const auto list = [](const amounts& of) {
            std::string made;
            for (const auto& [key, value] : of)
                made += (made.empty() ? "" : ", ") + key + ": " + value;
            return made;
        };
        std::string made;
        for (std::size_t at = 0; at < limits.size(); ++at)
            if (!limits[at].empty())
                made +=
                    (made.empty() ? "c" : " c") + std::to_string(at) + "{" + list(limits[at]) + "}";
        return made + (made.empty() || annotations.empty() ? "" : " ") + list(annotations);
    }
};

[[nodiscard]] inline std::string text_of(const std::vector<share_loss>& losses) {
    std::string made;
    for (const share_loss& each : losses)
        made += "; " + each.field + ": " + each.what;
    return made.empty() ? made : made.substr(2);
}

} // namespace share_pods
