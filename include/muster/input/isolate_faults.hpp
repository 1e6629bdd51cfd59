// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/each_object.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/unread_parts.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/input/cluster_input.hpp>
#include <muster/input/gang_reader.hpp>
#include <muster/input/manifests.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Finds the objects of a cluster that have errors, such as an unknown operator or a quantity that
/// cannot be parsed, and marks them as broken (`document::unread`). An object is of a cluster if it
/// is an item of a list, or has a uid.
class fault_isolator {
public:
    fault_isolator(std::vector<document>& documents, const gang_options& options)
        : documents_(&documents), options_(&options) {}

    /// Returns a warning for each object that was marked. O(input).
    [[nodiscard]] std::vector<diagnostic> run() {
        manifest_options how;
        how.default_namespace = options_->default_namespace;
        how.rules = options_->rules;
        diagnostics found;
        manifest_reader manifests_of(how, found);
        probe(manifests_of, found);
        manifests objects = std::move(manifests_of).finish();
        gang_options beside = *options_;
        beside.cluster = &objects;
        diagnostics of_gangs;
        gang_input_reader gangs_of(*documents_, beside, of_gangs);
        probe(gangs_of, of_gangs);
        for (document& each : *documents_)
            mark(each);
        return std::move(told_);
    }

private:
    template<class Reader>
    void probe(Reader& reader, diagnostics& found) {
        each_object(*documents_, found,
                    [&](object_reader& object, std::string_view version, std::string_view kind,
                        const object_place& where) {
                        const boost::json::object& manifest = object.value()->get_object();
                        const std::size_t errors = found.errors();
                        const std::size_t first = found.findings().size();
                        reader.take(object, version, kind, where);
                        if (found.errors() > errors && is_of_cluster(manifest, where))
                            note(manifest, kind, where, found, first);
                    });
    }

    [[nodiscard]] static bool is_of_cluster(const boost::json::object& manifest,
                                            const object_place& where) {
        const auto* const metadata = manifest.if_contains("metadata");
        return !where.items.empty() ||
               (metadata && metadata->is_object() && metadata->get_object().contains("uid"));
    }

    void note(const boost::json::object& manifest, std::string_view kind, const object_place& where,
              const diagnostics& found, std::size_t first) {
        std::vector<unread_part>& parts = parts_[where.source];
        if (std::ranges::find(parts, where.items, &unread_part::items) != parts.end())
            return;
        const auto& all = found.findings();
        const auto error =
            std::find_if(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(),
                         [](const diagnostic& each) { return each.level == severity::error; });
        // Of very many errors only the first are stored.
        diagnostic why = error != all.end() ? *error
                                            : diagnostic{severity::error,
                                                         where.source->locate(),
                                                         {},
                                                         "one of the errors in the input"};
        std::string around;
        for (const std::size_t item : where.items)
            around += (around.empty() ? "items[" : ".items[") + std::to_string(item) + "]";
        const bool is_inside = why.path.starts_with(around + ".") && !around.empty();
        parts.push_back(
            {where.items, is_inside ? why.path.substr(around.size() + 1) : why.path, why.message});
        const std::string_view home = translate::metadata_namespace(manifest);
        why.level = severity::warning;
        why.message += ", so " + std::string(kind) + " " +
                       in_quotes((home.empty() ? "" : std::string(home) + "/") +
                                 std::string(translate::metadata_name(manifest))) +
                       " counts as broken";
        told_.push_back(std::move(why));
    }

    void mark(document& of) {
        const auto found = parts_.find(&of);
        if (found == parts_.end())
            return;
        std::vector<unread_part> all = of.unread();
        std::ranges::move(found->second, std::back_inserter(all));
        std::ranges::stable_sort(all, {}, &unread_part::items);
        of.set_unread(std::move(all));
    }

    std::vector<document>* documents_;
    const gang_options* options_;
    std::map<const document*, std::vector<unread_part>> parts_;
    std::vector<diagnostic> told_;
};

} // namespace detail

/// As read_cluster(). In addition, an object of a cluster (an item of a list, or an object with a
/// uid) that has an error breaks no other object: it is marked in its document (`unread`) and
/// restricted as if a part of it could not be read, with a warning. Objects that somebody writes
/// by hand keep their errors. Reads the input again only if it has an error.
[[nodiscard]] inline manifests read_cluster_isolated(std::vector<document>& documents,
                                                     const gang_options& options,
                                                     diagnostics& out) {
    diagnostics first;
    manifests objects = read_cluster(documents, options, first);
    if (!first.ok()) {
        const std::vector<diagnostic> marked = detail::fault_isolator(documents, options).run();
        if (!marked.empty()) {
            for (const diagnostic& each : marked)
                out.add(each);
            return read_cluster(documents, options, out);
        }
    }
    for (const diagnostic& each : first.findings())
        out.add(each);
    return objects;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
