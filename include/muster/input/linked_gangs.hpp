// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/each_object.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/input/gang_book.hpp>
#include <muster/input/gang_declarer.hpp>
#include <muster/input/group_objects.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Declares the gangs of a few objects of a cluster, as read_cluster() would find them among all of
/// it: `documents` hold groups and pods, with all that links (gang_links.hpp) lead to; `objects`
/// the same pods as they were read, and the cluster's PriorityClasses and Topologies. What is said
/// of their gangs as a whole is an error in `out`, and nothing is declared then.
inline void declare_gangs(const std::vector<document>& documents, manifests& objects,
                          diagnostics& out) {
    reading_context context;
    gang_book book(objects, context.default_namespace, out, true);
    group_objects groups(book, context, out);
    each_object(documents, out,
                [&](object_reader& object, std::string_view version, std::string_view kind,
                    const object_place& where) {
                    if (version == "v1" && kind == "Pod")
                        book.add_pod(translate::as_written(object.value()->get_object()), where,
                                     book.reserve(), false);
                    else
                        groups.take(object, version, kind, where);
                    object.ignore_rest();
                });
    groups.finish();
    const std::vector<booked_gang> booked = book.finish();
    if (out.ok())
        gang_declarer(objects, context.default_namespace, out).declare(booked, book.strays());
}

/// What is wrong with objects that are gangs, each by itself.
inline void check_gang_objects(const std::vector<document>& documents, diagnostics& out) {
    const manifests nothing;
    reading_context context;
    gang_book book(nothing, context.default_namespace, out, true);
    group_objects groups(book, context, out);
    each_object(documents, out,
                [&](object_reader& object, std::string_view version, std::string_view kind,
                    const object_place& where) { groups.take(object, version, kind, where); });
}

} // namespace codec
} // namespace v0_1
} // namespace muster
