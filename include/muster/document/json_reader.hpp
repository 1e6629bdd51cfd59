// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value_stack.hpp>

#include <muster/document/document.hpp>
#include <muster/document/json_index.hpp>
#include <muster/document/json_skim.hpp>
#include <muster/document/source_text.hpp>
#include <muster/document/unread_parts.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Makes a value from parsing events and notes whether an object may have a key twice. The note is
/// by hashes, hence without a lookup per key: it never misses a duplicate and may, once in 2^64
/// pairs, suspect one that is none.
class json_handler {
public:
    static constexpr std::size_t max_object_size = boost::json::object::max_size();
    static constexpr std::size_t max_array_size = boost::json::array::max_size();
    static constexpr std::size_t max_key_size = limits::scalar_bytes;
    static constexpr std::size_t max_string_size = limits::scalar_bytes;

    using view = boost::json::string_view;
    using code = boost::json::error_code;

    void reset(boost::json::storage_ptr storage) {
        stack_.reset(std::move(storage));
        keys_.clear();
        suspect_ = false;
    }
    [[nodiscard]] boost::json::value release() { return stack_.release(); }
    [[nodiscard]] bool suspects_duplicate() const noexcept { return suspect_; }

    bool on_document_begin(code&) { return true; }
    bool on_document_end(code&) { return true; }
    bool on_object_begin(code&) { return true; }
    bool on_array_begin(code&) { return true; }
    bool on_object_end(std::size_t n, code&) {
        check_keys(n);
        stack_.push_object(n);
        return true;
    }
    bool on_array_end(std::size_t n, code&) {
        stack_.push_array(n);
        return true;
    }
    bool on_key_part(view part, std::size_t, code&) {
        key_.append(part.data(), part.size());
        stack_.push_chars(part);
        return true;
    }
    bool on_key(view part, std::size_t, code&) {
        if (key_.empty()) {
            keys_.push_back(hash({part.data(), part.size()}));
        } else {
            key_.append(part.data(), part.size());
            keys_.push_back(hash(key_));
            key_.clear();
        }
        stack_.push_key(part);
        return true;
    }
    bool on_string_part(view part, std::size_t, code&) {
        stack_.push_chars(part);
        return true;
    }
    bool on_string(view part, std::size_t, code&) {
        stack_.push_string(part);
        return true;
    }
    bool on_number_part(view, code&) { return true; }
    bool on_int64(std::int64_t number, view, code&) {
        stack_.push_int64(number);
        return true;
    }
    bool on_uint64(std::uint64_t number, view, code&) {
        stack_.push_uint64(number);
        return true;
    }
    bool on_double(double number, view, code& error) {
        if (!std::isfinite(number)) {
            error = boost::json::error::exponent_overflow;
            return false;
        }
        stack_.push_double(number);
        return true;
    }
    bool on_bool(bool truth, code&) {
        stack_.push_bool(truth);
        return true;
    }
    bool on_null(code&) {
        stack_.push_null();
        return true;
    }
    bool on_comment_part(view, code&) { return true; }
    bool on_comment(view, code&) { return true; }

private:
    static std::uint64_t hash(std::string_view key) noexcept {
        constexpr std::uint64_t prime = 0x9E37'79B9'7F4A'7C15;
        std::uint64_t state = key.size() * prime;
        while (!key.empty()) {
            std::uint64_t chunk = 0;
            const std::size_t length = std::min(key.size(), sizeof chunk);
            std::memcpy(&chunk, key.data(), length);
            state = (state ^ chunk) * prime;
            state ^= state >> 32U;
            key.remove_prefix(length);
        }
        return state;
    }

    void check_keys(std::size_t count) {
        constexpr std::size_t few = 12;
        const auto end = keys_.end();
        const auto begin = end - static_cast<std::ptrdiff_t>(count);
        if (count <= few) {
            for (auto key = begin; key != end; ++key)
                suspect_ |= std::find(key + 1, end, *key) != end;
        } else {
            std::sort(begin, end);
            suspect_ |= std::adjacent_find(begin, end) != end;
        }
        keys_.erase(begin, end);
    }

    boost::json::value_stack stack_;
    std::vector<std::uint64_t> keys_; ///< of the objects that are open, outermost first
    std::string key_;                 ///< the parts so far of a key that comes in parts
    bool suspect_ = false;
};

/// What the parser could not read, for faults that are not of structure.
[[nodiscard]] inline std::string json_error_text(const boost::json::error_code& error) {
    using code = boost::json::error;
    if (error == code::exponent_overflow)
        return "the number is out of range (expected at most 1.7976931348623157e308)";
    if (error == code::string_too_large || error == code::key_too_large)
        return "the string is too long (expected at most 4 MiB)";
    if (error == code::too_deep)
        return "nested too deeply (expected at most 64 levels)";
    if (error == code::incomplete)
        return "the text ends inside a value";
    return "not JSON: " + error.message();
}

/// Reads the values of a text one after the other.
class json_text_reader {
public:
    json_text_reader(std::shared_ptr<const source_text> source, diagnostics& out, on_unread unread)
        : source_(std::move(source)),
          text_(source_->text()),
          out_(&out),
          unread_(unread),
          storage_(boost::json::make_shared_resource<boost::json::monotonic_resource>(
              std::clamp<std::size_t>(text_.size(), 1024, 1U << 20U))),
          parser_(with_depth(limits::nesting)) {}

    [[nodiscard]] std::vector<document> run() && {
        std::size_t at = source_->start();
        do
            at = text_.find_first_not_of(" \t\r\n", at);
        while (at != std::string_view::npos && read_value(at));
        return std::move(documents_);
    }

private:
    using parser = boost::json::basic_parser<json_handler>;

    [[nodiscard]] static boost::json::parse_options with_depth(std::size_t levels) {
        boost::json::parse_options options;
        options.max_depth = levels;
        return options;
    }

    /// Reads the value at an offset and moves the offset behind it. Returns false if nothing after
    /// it can be read.
    bool read_value(std::size_t& at) {
        parser_.reset();
        parser_.handler().reset(storage_);
        boost::json::error_code error;
        const std::size_t used =
            parser_.write_some(false, text_.data() + at, text_.size() - at, error);
        const bool suspect = parser_.handler().suspects_duplicate();
        if (unread_ == on_unread::isolate &&
            (error == boost::json::error::too_deep || (!error && suspect)) && isolate(at))
            return true;
        std::vector<json_fault> faults;
        if (error || suspect) {
            const bool sound = json_skimmer(text_.substr(at), nullptr, &faults).run();
            if (error && sound)
                faults.push_back({used, {}, json_error_text(error)});
        }
        for (const json_fault& fault : faults)
            out_->add_made(severity::error, [&] {
                return diagnostic{severity::error, source_->at(at + fault.offset), fault.path,
                                  fault.message};
            });
        if (error)
            return false;
        boost::json::value root = parser_.handler().release();
        if (faults.empty())
            add(at, at + used, std::move(root));
        at += used;
        return true;
    }

    void add(std::size_t begin, std::size_t end, boost::json::value root) {
        documents_.emplace_back(source_, begin, end, std::move(root), &json_index::make);
    }

    /// Reads the value at an offset without the parts that cannot be read. Returns false if that is
    /// not possible.
    bool isolate(std::size_t& at) {
        part_faults found;
        json_skimmer skimmer(text_.substr(at), found);
        if (!skimmer.run())
            return false;
        const std::vector<part_fault>& faults = found.all();
        // In place of each value that is nested too deeply, and at its place, stands 0.
        std::string readable(text_.substr(at, skimmer.end()));
        for (const part_fault& fault : faults)
            if (fault.end > fault.offset) {
                std::fill(readable.begin() + static_cast<std::ptrdiff_t>(fault.offset),
                          readable.begin() + static_cast<std::ptrdiff_t>(fault.end), ' ');
                readable[fault.offset] = '0';
            }
        parser deep(with_depth(limits::nesting + 2));
        deep.handler().reset(storage_);
        boost::json::error_code error;
        deep.write_some(false, readable.data(), readable.size(), error);
        if (error)
            return false;
        boost::json::value root = deep.handler().release();
        auto parts = part_remover::run(root, faults);
        if (!parts || (parts->is_whole && !isolates_documents(faults, at + readable.size())))
            return false;
        add(at, at + readable.size(), std::move(root));
        documents_.back().set_unread(std::move(parts->unread));
        for (part_finding& each : parts->findings)
            out_->add({severity::warning, source_->at(at + each.offset), std::move(each.path),
                       std::move(each.message)});
        at += readable.size();
        return true;
    }

    /// True if the text has other documents that the faults must not affect. A duplicate key in an
    /// object that is a document is the slip of its author, and an error.
    [[nodiscard]] bool isolates_documents(const std::vector<part_fault>& faults,
                                          std::size_t end) const {
        const bool is_alone =
            documents_.empty() && text_.find_first_not_of(" \t\r\n", end) == std::string_view::npos;
        return !is_alone &&
               std::ranges::none_of(faults, [](const part_fault& each) { return each.end == 0; });
    }

    std::shared_ptr<const source_text> source_;
    std::string_view text_;
    diagnostics* out_;
    on_unread unread_;
    boost::json::storage_ptr storage_;
    parser parser_;
    std::vector<document> documents_;
};

} // namespace detail

/// Reads the JSON values that `source` holds one after the other (one document, NDJSON, or several
/// concatenated). Duplicate keys are errors. A document with an error is left out; after a syntax
/// error nothing more is read. With `on_unread::isolate`, a duplicate key or too deep a value
/// breaks only the object that holds it. More than 150 MB/s; the documents of one input share their
/// memory.
[[nodiscard]] inline std::vector<document> read_json(std::shared_ptr<const source_text> source,
                                                     diagnostics& out,
                                                     on_unread unread = on_unread::error) {
    return detail::json_text_reader(std::move(source), out, unread).run();
}

} // namespace codec
} // namespace v0_1
} // namespace muster
