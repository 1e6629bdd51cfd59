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

#include <muster/codec/document.hpp>
#include <muster/codec/json_index.hpp>
#include <muster/codec/json_skim.hpp>

namespace muster::inline v0_1 {
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

} // namespace detail

/// Reads the JSON values that `source` holds one after the other (one document, NDJSON, or several
/// concatenated). Duplicate keys are errors. A document with an error is left out; after a syntax
/// error nothing more is read. More than 150 MB/s; the documents of one input share their memory.
[[nodiscard]] inline std::vector<document> read_json(std::shared_ptr<const source_text> source,
                                                     diagnostics& out) {
    std::vector<document> documents;
    const std::string_view text = source->text();
    const auto report = [&](std::size_t begin, const detail::json_fault& fault) {
        out.add_made(severity::error, [&] {
            return diagnostic{severity::error, source->at(begin + fault.offset), fault.path,
                              fault.message};
        });
    };

    boost::json::storage_ptr storage =
        boost::json::make_shared_resource<boost::json::monotonic_resource>(
            std::clamp<std::size_t>(text.size(), 1024, 1U << 20U));
    boost::json::parse_options options;
    options.max_depth = limits::nesting;
    boost::json::basic_parser<detail::json_handler> parser(options);

    for (std::size_t at = source->start();;) {
        at = text.find_first_not_of(" \t\r\n", at);
        if (at == std::string_view::npos)
            return documents;
        parser.reset();
        parser.handler().reset(storage);
        boost::json::error_code error;
        const std::size_t used =
            parser.write_some(false, text.data() + at, text.size() - at, error);

        std::vector<detail::json_fault> faults;
        if (error || parser.handler().suspects_duplicate()) {
            const bool sound = detail::json_skimmer(text.substr(at), nullptr, &faults).run();
            if (error && sound)
                faults.push_back({used, {}, detail::json_error_text(error)});
        }
        for (const detail::json_fault& fault : faults)
            report(at, fault);
        if (error)
            return documents;
        boost::json::value root = parser.handler().release();
        if (faults.empty())
            documents.emplace_back(source, at, at + used, std::move(root),
                                   &detail::json_index::make);
        at += used;
    }
}

} // namespace codec
} // namespace muster::inline v0_1
