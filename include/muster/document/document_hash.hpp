// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// Adds texts and documents to one number (FNV-1a). Not for secrets.
class document_hash {
public:
    document_hash& add(std::string_view text) noexcept {
        for (const char c : text)
            sum_ = (sum_ ^ static_cast<unsigned char>(c)) * prime;
        // Tells "a", "b" from "ab".
        sum_ = (sum_ ^ 0xFFU) * prime;
        return *this;
    }

    /// Documents that are equal but for the order of their fields give the same number.
    document_hash& add_document(const boost::json::value& value) {
        if (const auto* object = value.if_object()) {
            std::vector<const boost::json::key_value_pair*> fields;
            fields.reserve(object->size());
            for (const auto& each : *object)
                fields.push_back(&each);
            std::ranges::sort(fields, {}, [](const auto* each) {
                return std::string_view(each->key().data(), each->key().size());
            });
            add("{");
            for (const auto* each : fields)
                add(std::string_view(each->key().data(), each->key().size()))
                    .add_document(each->value());
            return add("}");
        }
        if (const auto* list = value.if_array()) {
            add("[");
            for (const auto& each : *list)
                add_document(each);
            return add("]");
        }
        return add(boost::json::serialize(value));
    }

    [[nodiscard]] std::uint64_t value() const noexcept { return sum_; }

    /// `count` letters and digits as Kubernetes uses them in generated names, at most 12.
    [[nodiscard]] std::string letters(std::size_t count) const {
        constexpr std::string_view all = "bcdfghjklmnpqrstvwxz2456789";
        std::string text;
        // The low bits of the last characters are badly mixed.
        std::uint64_t rest = sum_ ^ (sum_ >> 29U);
        rest = (rest * prime) ^ (rest >> 32U);
        for (; count > 0; --count, rest /= all.size())
            text += all[rest % all.size()];
        return text;
    }

private:
    static constexpr std::uint64_t prime = 1099511628211U;
    std::uint64_t sum_ = 14695981039346656037U;
};

} // namespace translate
} // namespace v0_1
} // namespace muster
