// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/gangs/names.hpp>
#include <muster/gangs/target.hpp>
#include <muster/gangs/writing.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// Looks at a finished manifest as its API server would, and writes down what would be refused.
class manifest_check {
public:
    manifest_check(const boost::json::object& manifest, std::vector<violation>& out)
        : manifest_(&manifest), out_(&out) {
        const boost::json::object* metadata = object(manifest, "metadata");
        object_ = object_text(text(manifest, "kind"), metadata ? text(*metadata, "namespace") : "",
                              metadata ? text(*metadata, "name") : "");
    }

    /// Of the manifest, by names of fields from the top; nothing where there is none.
    [[nodiscard]] const boost::json::value* at(std::initializer_list<std::string_view> path) const {
        const boost::json::object* in = manifest_;
        const boost::json::value* found = nullptr;
        for (const std::string_view key : path) {
            found = in ? in->if_contains(key) : nullptr;
            in = found ? found->if_object() : nullptr;
        }
        return found;
    }

    [[nodiscard]] bool is(std::string_view api_version, std::string_view kind) const {
        return text(*manifest_, "apiVersion") == api_version && text(*manifest_, "kind") == kind;
    }
    [[nodiscard]] bool is_pod() const { return is("v1", "Pod"); }

    /// Calls with the path and the object of every item of `list`, if it is one.
    template<class Visit>
    void each(const std::string& field, const boost::json::value* list, Visit visit) const {
        const boost::json::array* items = list ? list->if_array() : nullptr;
        for (std::size_t at = 0; items && at < items->size(); ++at)
            visit(field + "[" + std::to_string(at) + "]", (*items)[at].as_object());
    }

    void refuse(std::string field, std::string message) {
        out_->push_back({object_, std::move(field), std::move(message)});
    }

    void expect_name(const std::string& field, std::string_view name, const name_syntax& syntax) {
        if (!is_legal(name, syntax))
            refuse(field, "'" + std::string(name) + "' (expected " + std::string(syntax.called) +
                              " of at most " + std::to_string(syntax.most) + " characters)");
    }
    void expect_number(const std::string& field, const boost::json::value& number,
                       std::int64_t least, std::int64_t most) {
        if (number.to_number<std::int64_t>() < least || number.to_number<std::int64_t>() > most)
            refuse(field, std::to_string(number.to_number<std::int64_t>()) +
                              " (expected a number from " + std::to_string(least) + " to " +
                              std::to_string(most) + ")");
    }
    void expect_int32(const std::string& field, const boost::json::value* number,
                      std::int64_t least) {
        if (number)
            expect_number(field, *number, least, 2147483647);
    }

    void expect_object_name(const name_syntax& syntax) {
        const boost::json::value* name = at({"metadata", "name"});
        const boost::json::string* text = name ? name->if_string() : nullptr;
        expect_name("metadata.name", text ? std::string_view(*text) : std::string_view{}, syntax);
    }

    /// What every object of Kubernetes keeps to. Names that their generator is still to make are
    /// not looked at.
    void metadata() {
        const boost::json::object* metadata = object(*manifest_, "metadata");
        if (!metadata) {
            refuse("metadata", "missing (expected an object with a name)");
            return;
        }
        if (const std::string_view name = text(*metadata, "name");
            !name.empty() || text(*metadata, "generateName").empty())
            expect_name("metadata.name", name, dns_subdomain);
        if (const std::string_view name_space = text(*metadata, "namespace"); !name_space.empty())
            expect_name("metadata.namespace", name_space, dns_label);
        if (const boost::json::object* labels = object(*metadata, "labels"))
            for (const auto& [key, value] : *labels) {
                expect_key("metadata.labels", key);
                if (!value.is_string() || !is_label_value(value.get_string()))
                    refuse("metadata.labels[" + std::string(key) + "]",
                           (value.is_string() ? "'" + std::string(value.get_string()) + "'"
                                              : std::string("no string")) +
                               " (expected a label value of at most 63 characters)");
            }
        if (const boost::json::object* annotations = object(*metadata, "annotations")) {
            std::size_t bytes = 0;
            for (const auto& [key, value] : *annotations) {
                expect_key("metadata.annotations", key);
                bytes += key.size() + (value.is_string() ? value.get_string().size() : 0);
                if (!value.is_string())
                    refuse("metadata.annotations[" + std::string(key) + "]",
                           "no string (expected a string)");
            }
            if (bytes > annotation_bytes)
                refuse("metadata.annotations", std::to_string(bytes) + " bytes (expected at most " +
                                                   std::to_string(annotation_bytes) + ")");
        }
    }

    /// `list`'s objects have legal names, each once, and there are not too many.
    void expect_names(const std::string& field, const boost::json::value* list,
                      const name_syntax& syntax,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
        const boost::json::array* items = list ? list->if_array() : nullptr;
        if (!items)
            return;
        if (items->size() > most)
            refuse(field, std::to_string(items->size()) + " of them (expected at most " +
                              std::to_string(most) + ")");
        std::vector<std::string_view> names;
        for (std::size_t at = 0; at < items->size(); ++at) {
            const std::string_view name = text((*items)[at].as_object(), "name");
            const std::string where = field + "[" + std::to_string(at) + "].name";
            expect_name(where, name, syntax);
            names.push_back(name);
        }
        std::ranges::sort(names);
        if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
            refuse(field, "'" + std::string(*twice) + "' is there twice (expected each name once)");
    }

    [[nodiscard]] static std::string_view text(const boost::json::object& in,
                                               std::string_view key) {
        const boost::json::value* value = in.if_contains(key);
        const boost::json::string* found = value ? value->if_string() : nullptr;
        return found ? std::string_view(*found) : std::string_view{};
    }

private:
    static constexpr std::size_t annotation_bytes = 256 * 1024;

    [[nodiscard]] static const boost::json::object* object(const boost::json::object& in,
                                                           std::string_view key) {
        const boost::json::value* value = in.if_contains(key);
        return value ? value->if_object() : nullptr;
    }
    void expect_key(const char* field, std::string_view key) {
        if (!is_qualified_name(key))
            refuse(field, "'" + std::string(key) +
                              "' (expected a name of at most 63 characters, after a DNS subdomain "
                              "and a slash if it has an owner)");
    }

    const boost::json::object* manifest_;
    std::vector<violation>* out_;
    std::string object_;
};

} // namespace translate
} // namespace v0_1
} // namespace muster
