// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
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
#include <muster/document/nearest.hpp>
#include <muster/document/timestamp.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

class object_reader;
class array_reader;

/// One value of a document that knows its path and where to report. It may be absent (null is
/// absent): then every as_...() answers with nothing and reports nothing. The as_...() report a
/// value of another type as an error at its place, and then answer with nothing as well.
///
/// Values below refer to the reader that they came from: keep an object_reader or array_reader in a
/// variable while its fields are in use. Costs no allocation unless something is reported.
class field {
public:
    /// The root of a document; both must outlive the reading.
    field(const document& source, diagnostics& out)
        : source_(&source), out_(&out), value_(present(&source.root())) {}

    [[nodiscard]] bool is_present() const noexcept { return value_ != nullptr; }
    /// The value as it was read, or nullptr when absent.
    [[nodiscard]] const boost::json::value* value() const noexcept { return value_; }
    [[nodiscard]] std::string path() const { return to_text(frame_); }
    [[nodiscard]] location where(place which = place::value) const {
        const std::vector<path_step> steps = steps_of(frame_);
        return source_->locate(path_view(steps), which);
    }
    [[nodiscard]] const document& source() const noexcept { return *source_; }

    void error(std::string_view message) const { report(severity::error, message); }
    void warning(std::string_view message, place which = place::value) const {
        report(severity::warning, message, which);
    }
    /// The same with the text that `write()` returns, which is called only if the warning is kept.
    template<std::invocable Write>
    void warning(const Write& write, place which = place::value) const {
        out_->add_made(severity::warning, [&] { return made(severity::warning, write(), which); });
    }
    /// Reports `found, expected ...`.
    void mismatch(std::string_view expected) const {
        out_->add_made(severity::error, [&] {
            return made(severity::error, description() + ", expected " + std::string(expected),
                        place::value);
        });
    }

    /// The characters live as long as the document.
    [[nodiscard]] std::optional<std::string_view> as_string() const {
        if (value_ == nullptr)
            return std::nullopt;
        if (const auto* text = value_->if_string())
            return std::string_view(text->data(), text->size());
        mismatch(value_->is_bool() || value_->is_number() ? "a string (quote it)" : "a string");
        return std::nullopt;
    }

    [[nodiscard]] std::optional<bool> as_boolean() const {
        if (value_ == nullptr)
            return std::nullopt;
        if (const bool* truth = value_->if_bool())
            return *truth;
        mismatch("true or false");
        return std::nullopt;
    }

    /// A whole number (2.0 is one) within the bounds, which are included.
    [[nodiscard]] std::optional<std::int64_t>
    as_integer(std::int64_t least = std::numeric_limits<std::int64_t>::min(),
               std::int64_t most = std::numeric_limits<std::int64_t>::max()) const {
        if (value_ == nullptr)
            return std::nullopt;
        const std::optional<std::int64_t> number = whole_number();
        if (number && *number >= least && *number <= most)
            return number;
        using limits = std::numeric_limits<std::int64_t>;
        mismatch(least == limits::min() && most == limits::max()
                     ? "a whole number"
                     : "a whole number from " + std::to_string(least) + " to " +
                           std::to_string(most));
        return std::nullopt;
    }

    /// The text of a quantity: a string as it is, an integer in decimal, and any other number
    /// exactly as it was written (but for the underscores that YAML allows in it).
    [[nodiscard]] std::optional<std::string> as_quantity_text() const {
        if (value_ == nullptr)
            return std::nullopt;
        if (const auto* text = value_->if_string())
            return std::string(text->data(), text->size());
        if (const auto* number = value_->if_int64())
            return std::to_string(*number);
        if (const auto* number = value_->if_uint64())
            return std::to_string(*number);
        if (value_->is_double()) {
            const std::vector<path_step> steps = steps_of(frame_);
            std::string text = source_->raw_scalar(path_view(steps));
            std::erase(text, '_');
            return text;
        }
        mismatch("a quantity such as 500m, 4 or 16Gi");
        return std::nullopt;
    }

    /// A time as parse_timestamp() takes it, in nanoseconds since 1970-01-01T00:00:00Z.
    [[nodiscard]] std::optional<std::int64_t> as_timestamp() const {
        if (value_ == nullptr)
            return std::nullopt;
        if (const auto* text = value_->if_string()) {
            if (const auto time = parse_timestamp({text->data(), text->size()}))
                return time;
            if (is_distant_time({text->data(), text->size()})) {
                error(in_quotes({text->data(), text->size()}) +
                      " is out of range (expected a time of the years 1678 to 2261)");
                return std::nullopt;
            }
        }
        mismatch("an RFC 3339 time such as 2023-12-17T13:48:16Z");
        return std::nullopt;
    }

    /// Absent or no object (an error): a reader that is not present and has no fields.
    [[nodiscard]] object_reader as_object() const;
    /// Absent or no list (an error): a reader that is not present and has no elements.
    [[nodiscard]] array_reader as_array() const;

protected:
    field(const field&) = default;
    field& operator=(const field&) = delete;

    field(const field& parent, path_step step, const boost::json::value* value)
        : source_(parent.source_),
          out_(parent.out_),
          value_(present(value)),
          frame_{&parent.frame_, step} {}

    void become_absent() noexcept { value_ = nullptr; }

private:
    friend class object_reader;
    friend class array_reader;

    static const boost::json::value* present(const boost::json::value* value) noexcept {
        return value == nullptr || value->is_null() ? nullptr : value;
    }

    void report(severity level, std::string_view message, place which = place::value) const {
        out_->add_made(level, [&] { return made(level, std::string(message), which); });
    }

    diagnostic made(severity level, std::string message, place which) const {
        const std::vector<path_step> steps = steps_of(frame_);
        return {level, source_->locate(path_view(steps), which), to_text(path_view(steps)),
                std::move(message)};
    }

    std::optional<std::int64_t> whole_number() const {
        if (const auto* number = value_->if_int64())
            return *number;
        // Beyond 2^53 a double no longer says which whole number was meant.
        constexpr double exact = 9007199254740992.0;
        if (const auto* number = value_->if_double();
            number != nullptr && std::fabs(*number) <= exact && std::trunc(*number) == *number)
            return static_cast<std::int64_t>(*number);
        return std::nullopt;
    }

    std::string description() const {
        switch (value_ == nullptr ? boost::json::kind::null : value_->kind()) {
        case boost::json::kind::null:
            return "found nothing";
        case boost::json::kind::object:
            return "found an object";
        case boost::json::kind::array:
            return "found a list";
        case boost::json::kind::string:
            return "found " + in_quotes({value_->get_string().data(), value_->get_string().size()});
        case boost::json::kind::bool_:
            return description_of_truth();
        default: {
            const std::vector<path_step> steps = steps_of(frame_);
            return "found " + source_->raw_scalar(path_view(steps)).substr(0, 64);
        }
        }
    }

    /// YAML has many words for true and false, and an unquoted `no` is often meant as the word.
    std::string description_of_truth() const {
        const std::string meaning = value_->get_bool() ? "true" : "false";
        const std::vector<path_step> steps = steps_of(frame_);
        const std::string written = source_->raw_scalar(path_view(steps));
        return written.empty() || written == meaning
                   ? "found " + meaning
                   : "found " + written + ", which YAML takes for " + meaning;
    }

    const document* source_;
    diagnostics* out_;
    const boost::json::value* value_;
    path_frame frame_;
};

/// An object that remembers which of its fields were asked for. Not movable, as its fields refer to
/// it.
class object_reader : public field {
public:
    /// The root of a document, which must be an object.
    object_reader(const document& source, diagnostics& out)
        : object_reader(field(source, out), true) {}

    object_reader(const object_reader&) = delete;
    object_reader& operator=(const object_reader&) = delete;

    /// How many fields it has, unknown and null ones too.
    [[nodiscard]] std::size_t size() const noexcept { return object_ ? object_->size() : 0; }

    /// The field, which may be absent. The key must outlive it (a literal does).
    [[nodiscard]] field optional(std::string_view key) { return {*this, key, take(key)}; }

    /// The field; it is an error when it is absent, unless the object itself is absent.
    [[nodiscard]] field required(std::string_view key) { return require(key, take(key)); }

    /// The same for literals, which finish() suggests for unknown fields if they are absent.
    template<std::size_t Size>
    [[nodiscard]] field optional(const char (&key)[Size]) {
        const std::string_view name(key, Size - 1);
        return {*this, name, take_or_note(name)};
    }
    template<std::size_t Size>
    [[nodiscard]] field required(const char (&key)[Size]) {
        const std::string_view name(key, Size - 1);
        return require(name, take_or_note(name));
    }

    /// These fields are known and do not matter here, with all that is in them.
    void ignore(std::initializer_list<std::string_view> keys) {
        for (const std::string_view key : keys)
            take(key);
    }

    /// Calls `visit(std::string_view key, const field&)` for every field that was not read yet. A
    /// null field is passed as absent. Fields for which `visit` returns true count as read.
    template<class Visit>
    void take_each(Visit&& visit) {
        if (object_ == nullptr)
            return;
        std::size_t ordinal = 0;
        for (const auto& member : *object_) {
            const std::string_view key(member.key().data(), member.key().size());
            if (!is_taken(ordinal) && visit(key, field(*this, key, &member.value())))
                mark(ordinal);
            ++ordinal;
        }
    }

    /// All fields are known: finish() has nothing to report.
    void ignore_rest() noexcept { object_ = nullptr; }

    /// For an object whose keys are data: calls `visit(std::string_view key, const field&)` for
    /// every field in the order of the text, null ones too (as absent). All are known then.
    template<class Visit>
    void for_each(Visit&& visit) {
        if (object_ == nullptr)
            return;
        for (const auto& member : *object_) {
            const std::string_view key(member.key().data(), member.key().size());
            visit(key, field(*this, key, &member.value()));
        }
        ignore_rest();
    }

    /// As for_each(), but only for fields that are strings: `visit(std::string_view key,
    /// std::string_view text)`. Others are errors.
    template<class Visit>
    void for_each_string(Visit&& visit) {
        for_each([&](std::string_view key, const field& value) {
            if (const auto text = value.as_string())
                visit(key, *text);
        });
    }

    /// Reports each field that was never asked for and is not null as a warning, at its key. The
    /// warning suggests the nearest of the absent fields that were asked for.
    void finish() {
        finish([this] { return absent_fields(); });
    }
    /// The same with the nearest of the names that `known()` returns, a vector of strings.
    template<std::invocable Known>
    void finish(const Known& known) {
        if (object_ == nullptr || taken_count_ == object_->size())
            return;
        std::size_t ordinal = 0;
        for (const auto& member : *object_) {
            const std::string_view key(member.key().data(), member.key().size());
            if (!is_taken(ordinal++) && !member.value().is_null())
                field(*this, key, &member.value())
                    .warning([&] { return "unknown field, ignored" + suggestion(key, known()); },
                             place::key);
        }
        ignore_rest();
    }

private:
    friend class field;
    friend class array_reader;

    /// `must_exist`: an absent value is an error too.
    object_reader(const field& from, bool must_exist) : field(from) {
        if (value() != nullptr)
            object_ = value()->if_object();
        if (object_ == nullptr && (value() != nullptr || must_exist)) {
            mismatch("an object");
            become_absent();
        }
    }

    const boost::json::value* take(std::string_view key) {
        if (object_ == nullptr)
            return nullptr;
        const auto member = object_->find(key);
        if (member == object_->end())
            return nullptr;
        mark(static_cast<std::size_t>(member - object_->begin()));
        return &member->value();
    }

    /// Precondition: the key is a literal.
    const boost::json::value* take_or_note(std::string_view key) {
        const boost::json::value* const value = take(key);
        if (value == nullptr && object_ != nullptr && absent_count_ < absent_.size())
            absent_[absent_count_++] = key.data();
        return value;
    }

    field require(std::string_view key, const boost::json::value* value) {
        if (object_ != nullptr && present(value) == nullptr)
            field(*this, key, nullptr).error("required, but missing");
        return {*this, key, value};
    }

    std::vector<std::string> absent_fields() const {
        return {absent_.begin(), absent_.begin() + static_cast<std::ptrdiff_t>(absent_count_)};
    }

    void mark(std::size_t ordinal) {
        if (is_taken(ordinal))
            return;
        ++taken_count_;
        if (ordinal < 64) {
            taken_ |= std::uint64_t{1} << ordinal;
        } else {
            taken_beyond_.resize(object_->size() - 64);
            taken_beyond_[ordinal - 64] = true;
        }
    }

    bool is_taken(std::size_t ordinal) const {
        if (ordinal < 64)
            return ((taken_ >> ordinal) & 1U) != 0;
        return !taken_beyond_.empty() && taken_beyond_[ordinal - 64];
    }

    const boost::json::object* object_ = nullptr;
    std::uint64_t taken_ = 0; ///< by the position of the field
    std::vector<bool> taken_beyond_;
    std::size_t taken_count_ = 0;
    /// The first fields that were asked for and are absent: literals. Only the first
    /// `absent_count_` have a value.
    std::array<const char*, 32> absent_;
    std::size_t absent_count_ = 0;
};

/// A list. Not movable, as its elements refer to it.
class array_reader : public field {
public:
    array_reader(const array_reader&) = delete;
    array_reader& operator=(const array_reader&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return list_ ? list_->size() : 0; }
    /// The element; `index` < size().
    [[nodiscard]] field operator[](std::size_t index) const {
        return {*this, index, &(*list_)[index]};
    }

    /// Calls `visit(const field&)` for each element in order; null elements are absent fields.
    template<class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t i = 0; i < size(); ++i)
            visit((*this)[i]);
    }

    /// Calls `visit(object_reader&)` for each element in order; those that are no objects are
    /// errors.
    template<class Visit>
    void for_each_object(Visit&& visit) const;

private:
    friend class field;

    explicit array_reader(const field& from) : field(from) {
        if (value() == nullptr)
            return;
        list_ = value()->if_array();
        if (list_ == nullptr) {
            mismatch("a list");
            become_absent();
        }
    }

    const boost::json::array* list_ = nullptr;
};

inline object_reader field::as_object() const {
    return {*this, false};
}

inline array_reader field::as_array() const {
    return array_reader(*this);
}

template<class Visit>
void array_reader::for_each_object(Visit&& visit) const {
    for (std::size_t i = 0; i < size(); ++i) {
        object_reader element((*this)[i], true);
        if (element.is_present())
            visit(element);
    }
}

} // namespace codec
} // namespace v0_1
} // namespace muster
