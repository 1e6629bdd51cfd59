// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <muster/document/diagnostic.hpp>
#include <muster/document/field_path.hpp>
#include <muster/document/source_text.hpp>
#include <muster/document/unread_parts.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Which of the two places of a field is meant. An element of a list has no key: both mean its
/// value.
enum class place : std::uint8_t { value, key };

namespace detail {

/// Where the values of one document stand in its text; offsets count from the document's start.
class document_index {
public:
    struct spot {
        std::uint32_t entry = 0; ///< of the index itself
        std::uint32_t key = 0;
        std::uint32_t value = 0;
        bool found = true; ///< false: the last value on the way that does exist
    };

    virtual ~document_index() = default;
    [[nodiscard]] virtual spot find(const boost::json::value& root, path_view path) const = 0;
    /// The text of a scalar without quotes; empty for an object or list.
    [[nodiscard]] virtual std::string scalar(spot at) const = 0;
};

using index_maker = std::unique_ptr<document_index> (*)(std::string_view text);

/// Returns the value at a path, or nullptr if the path does not exist.
[[nodiscard]] inline const boost::json::value* value_at(const boost::json::value& root,
                                                        path_view path) {
    const boost::json::value* found = &root;
    for (const path_step& step : path) {
        if (found == nullptr)
            break;
        if (step.is_index) {
            const auto* const list = found->if_array();
            found = list ? list->if_contains(step.index) : nullptr;
        } else {
            const auto* const object = found->if_object();
            found = object ? object->if_contains(step.key) : nullptr;
        }
    }
    return found;
}

} // namespace detail

/// One document of an input: its value, and lazily where each value stood. The text is shared by
/// the documents of one input and kept as long as one of them. Movable, not copyable; moving keeps
/// the addresses of all values below the root. The const functions that look into the source may
/// not be called from several threads at once.
class document {
public:
    /// For readers: `[begin, end)` of the source holds the document and nothing else that a reader
    /// would take for one.
    document(std::shared_ptr<const source_text> source, std::size_t begin, std::size_t end,
             boost::json::value root, detail::index_maker make_index)
        : source_(std::move(source)),
          begin_(begin),
          end_(end),
          root_(std::move(root)),
          make_index_(make_index) {}

    /// Makes a document from a value without source text. Diagnostics name `file` and the path, but
    /// no line.
    document(std::string file, boost::json::value root)
        : document(std::make_shared<const source_text>(std::move(file), std::string{}), 0, 0,
                   std::move(root), nullptr) {}

    [[nodiscard]] const boost::json::value& root() const noexcept { return root_; }
    [[nodiscard]] const std::string& file() const noexcept { return source_->name(); }
    /// Returns the source text; empty if the document was made from a value.
    [[nodiscard]] std::string_view text() const noexcept {
        return source_->text().substr(begin_, end_ - begin_);
    }

    /// Where a value (or its key) stands; of a path that does not exist, the place of the last
    /// value on it that does. The first call reads the document again, later ones are O(path + the
    /// elements of each list and object on it).
    [[nodiscard]] location locate(path_view path = {}, place which = place::value) const {
        if (make_index_ == nullptr)
            return {source_->name(), 0, 0};
        const auto spot = index().find(root_, path);
        return source_->at(begin_ + (which == place::key && spot.found ? spot.key : spot.value));
    }

    /// The text of a scalar exactly as it was written, without quotes and with escapes resolved:
    /// 1.50 and 1e30 stay what they are. Empty for an object, a list, or what does not exist. Costs
    /// what locate() costs.
    [[nodiscard]] std::string raw_scalar(path_view path) const {
        if (make_index_ == nullptr)
            return scalar_text(detail::value_at(root_, path));
        const auto spot = index().find(root_, path);
        return spot.found ? index().scalar(spot) : std::string{};
    }

    /// Parts of its objects that could not be read, sorted by object.
    [[nodiscard]] const std::vector<unread_part>& unread() const noexcept { return unread_; }
    /// For readers: see `unread()`.
    void set_unread(std::vector<unread_part> parts) { unread_ = std::move(parts); }
    /// The unread parts of the object at these positions in nested lists. An object that has such
    /// parts is broken. O(log parts).
    [[nodiscard]] std::span<const unread_part>
    unread_of(const std::vector<std::size_t>& items) const {
        const auto first = std::ranges::lower_bound(unread_, items, {}, &unread_part::items);
        const auto last = std::ranges::upper_bound(unread_, items, {}, &unread_part::items);
        return {first, last};
    }

private:
    static std::string scalar_text(const boost::json::value* value) {
        if (value == nullptr || value->is_structured())
            return {};
        if (const auto* const text = value->if_string())
            return std::string(text->data(), text->size());
        return boost::json::serialize(*value);
    }

    const detail::document_index& index() const {
        if (index_ == nullptr)
            index_ = make_index_(text());
        return *index_;
    }

    std::shared_ptr<const source_text> source_;
    std::size_t begin_;
    std::size_t end_;
    boost::json::value root_;
    detail::index_maker make_index_;
    std::vector<unread_part> unread_;
    mutable std::unique_ptr<detail::document_index> index_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
