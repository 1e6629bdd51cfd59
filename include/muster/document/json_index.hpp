// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

#include <muster/document/document.hpp>
#include <muster/document/json_skim.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Finds values in the text of one well-formed JSON document without duplicate keys: there, a
/// member's place among its siblings is the same in the text and in the value.
class json_index final : public document_index {
public:
    explicit json_index(std::string_view text) : text_(text) {
        json_skimmer(text, &entries_, nullptr).run();
    }

    static std::unique_ptr<document_index> make(std::string_view text) {
        return std::make_unique<json_index>(text);
    }

    spot find(const boost::json::value& root, path_view path) const override {
        const boost::json::value* value = &root;
        std::uint32_t entry = 0;
        bool found = true;
        for (const path_step& step : path) {
            const auto [child, ordinal] = descend(*value, step);
            if (child == nullptr) {
                found = false;
                break;
            }
            // An object that was read without a duplicate key has fewer members than the text.
            const std::uint32_t end = entries_[entry].next;
            std::uint32_t next = entry + 1;
            for (std::size_t i = 0; i < ordinal && next < end; ++i)
                next = entries_[next].next;
            if (next >= end) {
                found = false;
                break;
            }
            entry = next;
            value = child;
        }
        return {entry, entries_[entry].key, entries_[entry].value, found};
    }

    std::string scalar(spot at) const override {
        const std::string_view rest = text_.substr(at.value);
        if (rest.empty() || rest[0] == '{' || rest[0] == '[')
            return {};
        if (rest[0] != '"')
            return std::string(rest.substr(0, rest.find_first_of(" \t\r\n,]}")));
        std::size_t end = 1;
        while (end < rest.size() && rest[end] != '"')
            end += rest[end] == '\\' ? 2U : 1U;
        return json_unescaped(rest.substr(0, end + 1));
    }

private:
    static std::pair<const boost::json::value*, std::size_t>
    descend(const boost::json::value& value, const path_step& step) {
        if (const auto* list = value.if_array(); list != nullptr && step.is_index)
            return {list->if_contains(step.index), step.index};
        if (const auto* object = value.if_object(); object != nullptr && !step.is_index) {
            const auto member = object->find(step.key);
            if (member != object->end())
                return {&member->value(), static_cast<std::size_t>(member - object->begin())};
        }
        return {nullptr, 0};
    }

    std::string_view text_;
    std::vector<json_entry> entries_;
};

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
