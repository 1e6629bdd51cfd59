// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/core/objects.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/document/json_reader.hpp>
#include <muster/document/source_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Which object it is, and in which state.
struct listed_object {
    codec::object_key key;
    std::string uid;
    std::string version; ///< resourceVersion: only ever compared for equality

    friend bool operator==(const listed_object&, const listed_object&) = default;
};

/// An object that the API server sent. It refers to the document around it, which lives while it is
/// handed out.
class arrived {
public:
    /// `item`: its place in a list; without, it is the object of a watch event.
    arrived(listed_object who, const codec::document& in, std::optional<std::size_t> item)
        : who_(std::move(who)), in_(&in), item_(item) {}
    /// `whole` is the object itself, without the parts that could not be read. `faults` names these
    /// parts, a line each, and must live as long as `whole`.
    arrived(listed_object who, const codec::document& whole, const std::vector<std::string>& faults)
        : who_(std::move(who)), in_(&whole), faults_(&faults) {}

    [[nodiscard]] const listed_object& who() const noexcept { return who_; }
    /// The parts of the object that could not be read as JSON, as `path: why`. Nearly always empty.
    [[nodiscard]] const std::vector<std::string>& faults() const noexcept {
        static const std::vector<std::string> none;
        return faults_ ? *faults_ : none;
    }

    /// The value of the object as it was sent, without the parts that `faults` names.
    [[nodiscard]] const boost::json::value& value() const {
        if (faults_)
            return in_->root();
        const boost::json::object& top = in_->root().get_object();
        return item_ ? top.at("items").get_array()[*item_] : top.at("object");
    }

    /// Reads it by `read(object_reader&)`. What is wrong with it is put into `wrong`, a line each,
    /// and then what was read is not to be used. Warnings are dropped: a live object has fields
    /// that are newer than any reader. Reads twice when something is wrong.
    template<class Read>
    [[nodiscard]] auto read(Read&& read, std::vector<std::string>& wrong) const {
        codec::diagnostics counted(0);
        auto made = read_with(read, counted);
        wrong.insert(wrong.end(), faults().begin(), faults().end());
        if (!counted.ok()) {
            codec::diagnostics found(4);
            static_cast<void>(read_with(read, found));
            for (const codec::diagnostic& each : found.findings())
                if (each.level == codec::severity::error)
                    wrong.push_back(within(each.path) + each.message);
        }
        return made;
    }

private:
    /// Where it is in the object, in words that are the same however that came.
    [[nodiscard]] std::string within(const std::string& path) const {
        if (faults_)
            return path.empty() ? std::string{} : path + ": ";
        const std::string own = item_ ? "items[" + std::to_string(*item_) + "]" : "object";
        if (path == own)
            return {};
        return (path.starts_with(own + ".") ? path.substr(own.size() + 1) : path) + ": ";
    }

    template<class Read>
    auto read_with(Read& read, codec::diagnostics& out) const {
        const codec::field root(*in_, out);
        codec::object_reader top = root.as_object();
        if (faults_)
            return read(top);
        if (!item_) {
            const codec::field at = top.optional("object");
            codec::object_reader object = at.as_object();
            return read(object);
        }
        const codec::field items_at = top.optional("items");
        const codec::array_reader items = items_at.as_array();
        const codec::field at = items[*item_];
        codec::object_reader object = at.as_object();
        return read(object);
    }

    listed_object who_;
    const codec::document* in_;
    std::optional<std::size_t> item_;
    const std::vector<std::string>* faults_ = nullptr;
};

/// Returns the mark that identifies a state of a group's object. The generation changes only with
/// the spec, the version with every change.
[[nodiscard]] inline std::string mark_of(std::int64_t generation, const std::string& version) {
    return generation > 0 ? "g" + std::to_string(generation) : version;
}

namespace detail {

/// A text that holds exactly one JSON object, or nothing and why.
[[nodiscard]] inline std::optional<codec::document> one_document(std::string name, std::string text,
                                                                 std::string& wrong) {
    codec::diagnostics found(1);
    const auto source =
        std::make_shared<const codec::source_text>(std::move(name), std::move(text));
    std::vector<codec::document> documents = codec::read_json(source, found);
    if (found.ok() && documents.size() == 1 && documents.front().root().is_object())
        return std::move(documents.front());
    wrong = found.findings().empty() ? source->name() + ": not one JSON object"
                                     : to_text(found.findings().front());
    return std::nullopt;
}

[[nodiscard]] inline const boost::json::object* object_in(const boost::json::object& in,
                                                          std::string_view key) {
    const boost::json::value* const found = in.if_contains(key);
    return found ? found->if_object() : nullptr;
}

[[nodiscard]] inline std::string string_in(const boost::json::object& in, std::string_view key) {
    const boost::json::value* const found = in.if_contains(key);
    const boost::json::string* const text = found ? found->if_string() : nullptr;
    return text ? std::string(text->data(), text->size()) : std::string{};
}

[[nodiscard]] inline std::int64_t number_in(const boost::json::object& in, std::string_view key) {
    const boost::json::value* const found = in.if_contains(key);
    const std::int64_t* const number = found ? found->if_int64() : nullptr;
    return number ? *number : 0;
}

/// Nothing when the value is no object of an API server.
[[nodiscard]] inline std::optional<listed_object> identify(const boost::json::value& value) {
    const boost::json::object* const object = value.if_object();
    const boost::json::object* const metadata = object ? object_in(*object, "metadata") : nullptr;
    if (!metadata)
        return std::nullopt;
    listed_object who{{string_in(*metadata, "namespace"), string_in(*metadata, "name")},
                      string_in(*metadata, "uid"),
                      string_in(*metadata, "resourceVersion")};
    if (who.key.name.empty() || who.uid.empty() || who.version.empty())
        return std::nullopt;
    return who;
}

} // namespace detail
} // namespace kube
} // namespace v0_1
} // namespace muster
