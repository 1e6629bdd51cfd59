// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/field_path.hpp>
#include <muster/document/json_parts.hpp>
#include <muster/document/json_reader.hpp>
#include <muster/document/json_skim.hpp>
#include <muster/document/source_text.hpp>
#include <muster/kube/arrived.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// One object, and the parts of it that could not be read: `path: why`, a line each.
struct sent_object {
    codec::document document;
    std::vector<std::string> faults;
};

namespace detail {

/// Parses one JSON value. On failure returns nullopt and sets `wrong`.
[[nodiscard]] inline std::optional<boost::json::value> read_part(std::string_view text,
                                                                 std::string& wrong) {
    codec::diagnostics found(1);
    const auto documents = codec::read_json(
        std::make_shared<const codec::source_text>("part", "[" + std::string(text) + "]"), found);
    if (found.ok() && documents.size() == 1 && documents.front().root().get_array().size() == 1)
        return boost::json::value(documents.front().root().get_array().front(), {});
    wrong = found.findings().empty() ? "not one JSON value" : found.findings().front().message;
    return std::nullopt;
}

/// Parses the members of an object one by one. If a member that is an object cannot be parsed, its
/// members are parsed one by one in turn, down to `levels` levels. Other members that cannot be
/// parsed are left out and become faults. A list is left out as a whole: without one of its
/// elements it would mean something else.
[[nodiscard]] inline boost::json::object readable_parts(std::string_view text,
                                                        const codec::path_frame& frame, int levels,
                                                        std::vector<std::string>& faults) {
    constexpr std::size_t most_faults = 64;
    // It nests as deeply as all other fields together, and most readers do not use it. The others
    // see that it is null.
    constexpr std::string_view unread = "metadata.managedFields";
    boost::json::object made;
    const auto fault = [&](const std::string& path, const std::string& what) {
        if (faults.size() < most_faults)
            faults.push_back((path.empty() ? path : path + ": ") + what);
    };
    const bool is_object =
        codec::detail::each_json_part(text, [&](std::string_view token, std::string_view value) {
            const std::string key = codec::detail::json_unescaped(token);
            const codec::path_frame member{&frame, std::string_view(key)};
            std::string wrong;
            const std::string path = to_text(member);
            if (made.contains(key) && path == unread)
                made[key] = nullptr;
            else if (made.contains(key))
                fault(path, "duplicate key (expected each key once)");
            else if (auto read = read_part(value, wrong))
                made[key] = std::move(*read);
            else if (levels > 1 && value.starts_with('{'))
                made[key] = readable_parts(value, member, levels - 1, faults);
            else if (path == unread)
                made[key] = nullptr;
            else
                fault(path, wrong);
        });
    if (!is_object)
        fault(to_text(frame), "is no JSON object");
    return made;
}

} // namespace detail

/// Parses one object. Parts that cannot be parsed (too deeply nested, a number out of range, an
/// invalid escape) are left out and listed as faults. Returns nullopt if the text is not an object.
[[nodiscard]] inline std::optional<sent_object> read_sent_object(const std::string& name,
                                                                 std::string_view text) {
    std::string wrong;
    if (auto whole = detail::one_document(name, std::string(text), wrong))
        return sent_object{std::move(*whole), {}};
    if (!text.starts_with('{'))
        return std::nullopt;
    constexpr int levels = 2; // metadata.labels, spec.containers
    std::vector<std::string> faults;
    boost::json::object parts = detail::readable_parts(text, codec::path_frame{}, levels, faults);
    return sent_object{codec::document(name, std::move(parts)), std::move(faults)};
}

/// One page of a list. An object that cannot be parsed affects no other: if the page cannot be
/// parsed as a whole, it is parsed object by object.
class sent_page {
public:
    /// Parses a page. Returns nullopt and sets `wrong` if the text is not a page of a list.
    [[nodiscard]] static std::optional<sent_page>
    read(const std::string& path, const std::string& text, std::string& wrong) {
        sent_page made;
        made.path_ = path;
        if ((made.whole_ = detail::one_document(path, text, wrong))) {
            const boost::json::object& top = made.whole_->root().get_object();
            const boost::json::value* const items = top.if_contains("items");
            made.is_list_ = items && (items->is_array() || items->is_null());
            made.take_head(detail::object_in(top, "metadata"));
        } else if (!made.split(text)) {
            return std::nullopt;
        }
        if (made.version_.empty() || !made.is_list_) {
            wrong = "the answer is no list";
            return std::nullopt;
        }
        return made;
    }

    [[nodiscard]] const std::string& version() const noexcept { return version_; }
    /// The `continue` of the next page; empty on the last.
    [[nodiscard]] const std::string& next_page() const noexcept { return next_page_; }

    /// Calls `take(const arrived&)` for each object, and `lost(const boost::json::value*,
    /// std::string place)` for each one without name, uid or resourceVersion.
    template<class Take, class Lost>
    void for_each(const Take& take, const Lost& lost) const {
        if (whole_) {
            const boost::json::value& items = whole_->root().get_object().at("items");
            for (std::size_t at = 0; items.is_array() && at < items.get_array().size(); ++at)
                if (auto who = detail::identify(items.get_array()[at]))
                    take(arrived(std::move(*who), *whole_, at));
                else
                    lost(&items.get_array()[at], place(at));
            return;
        }
        for (std::size_t at = 0; at < items_.size(); ++at) {
            const auto object = read_sent_object(path_, items_[at]);
            if (auto who = object ? detail::identify(object->document.root()) : std::nullopt)
                take(arrived(std::move(*who), object->document, object->faults));
            else
                lost(object ? &object->document.root() : nullptr, place(at));
        }
    }

private:
    static std::string place(std::size_t at) { return "items[" + std::to_string(at) + "]"; }

    void take_head(const boost::json::object* metadata) {
        if (!metadata)
            return;
        version_ = detail::string_in(*metadata, "resourceVersion");
        next_page_ = detail::string_in(*metadata, "continue");
    }

    /// Splits the page into its items, which are views of `text`.
    bool split(std::string_view text) {
        return codec::detail::each_json_part(
            text, [&](std::string_view key, std::string_view value) {
                if (key == "\"metadata\"") {
                    std::string ignored;
                    if (const auto read = detail::one_document(path_, std::string(value), ignored))
                        take_head(&read->root().get_object());
                } else if (key == "\"items\"") {
                    is_list_ = value == "null" ||
                               codec::detail::each_json_part(
                                   value, [&](std::string_view none, std::string_view item) {
                                       if (none.empty())
                                           items_.push_back(item);
                                   });
                }
            });
    }

    std::string path_;
    std::optional<codec::document> whole_;
    std::vector<std::string_view> items_; ///< set if the page cannot be parsed as a whole
    bool is_list_ = false;
    std::string version_;
    std::string next_page_;
};

/// One event of a watch. Parts of its object that cannot be parsed become faults.
class sent_event {
public:
    /// Parses an event. Returns nullopt and sets `wrong` if the text is not an event.
    [[nodiscard]] static std::optional<sent_event> read(const std::string& path, std::string text,
                                                        std::string& wrong) {
        sent_event made;
        if (auto whole = detail::one_document(path, text, wrong)) {
            const boost::json::object& top = whole->root().get_object();
            made.type_ = detail::string_in(top, "type");
            if (top.contains("object"))
                made.object_.emplace(sent_object{std::move(*whole), {}});
            made.is_whole_ = true;
        } else {
            const bool is_object = codec::detail::each_json_part(
                text, [&](std::string_view key, std::string_view value) {
                    if (key == "\"type\"" && value.starts_with('"'))
                        made.type_ = codec::detail::json_unescaped(value);
                    else if (key == "\"object\"")
                        made.object_ = read_sent_object(path, value);
                });
            if (!is_object)
                return std::nullopt;
        }
        if (!made.object_ || made.type_.empty()) {
            wrong = "an event of the watch has no type or no object";
            return std::nullopt;
        }
        return made;
    }

    [[nodiscard]] const std::string& type() const noexcept { return type_; }
    [[nodiscard]] const boost::json::value& object() const {
        const boost::json::value& root = object_->document.root();
        return is_whole_ ? root.get_object().at("object") : root;
    }
    /// The object. `who`: the result of `identify` for it.
    [[nodiscard]] arrived as(listed_object who) const {
        return is_whole_ ? arrived(std::move(who), object_->document, std::nullopt)
                         : arrived(std::move(who), object_->document, object_->faults);
    }

private:
    std::string type_;
    std::optional<sent_object> object_;
    bool is_whole_ = false; ///< the document is the whole event, not only the object
};

} // namespace kube
} // namespace v0_1
} // namespace muster
