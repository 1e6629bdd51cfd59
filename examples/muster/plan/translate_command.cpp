// SPDX-License-Identifier: Apache-2.0
#include "translate_command.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/core/each_object.hpp>
#include <muster/apis/shares/gang_shares.hpp>
#include <muster/apis/shares/share_documents.hpp>
#include <muster/apis/write_all.hpp>
#include <muster/gangs/job_companions.hpp>
#include <muster/gangs/pod_marks.hpp>
#include <muster/gangs/writing.hpp>

#include "../print/output.hpp"
#include "read.hpp"

namespace cli {
namespace {

namespace mc = muster::codec;
namespace mt = muster::translate;

std::string text_of(const mt::loss& lost) {
    return "lost: " + std::string(to_text(lost.what)) + ": " + lost.object + ": " + lost.detail;
}

std::string text_of(const mt::violation& wrong) {
    return "refused: " + wrong.object + ": " + wrong.field + ": " + wrong.message;
}

std::string text_of(const std::map<std::string, std::size_t>& apart) {
    std::string kinds;
    for (const auto& [kind, count] : apart)
        kinds += (kinds.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
    return "not translated, as there is no gang in it: " + kinds;
}

/// A list of one form that kubectl takes, too.
std::string text_of(std::vector<boost::json::object> objects, bool as_json) {
    if (as_json) {
        boost::json::object list{{"apiVersion", "v1"}, {"kind", "List"}};
        boost::json::array& items = list["items"].emplace_array();
        for (boost::json::object& each : objects)
            items.push_back(std::move(each));
        return json_text(list);
    }
    std::string text;
    for (boost::json::object& each : objects)
        text += (text.empty() ? "" : "---\n") + yaml_text(std::move(each));
    return text;
}

/// Returns every object of the documents, with the shares of its pods in the notation of `to`.
std::vector<boost::json::object> with_shares(const std::vector<mc::document>& documents,
                                             mc::share_system to, std::vector<mt::loss>& losses,
                                             mc::diagnostics& found) {
    std::vector<boost::json::object> objects;
    mc::each_object(
        documents, found,
        [&](mc::object_reader& object, std::string_view version, std::string_view kind,
            const mc::object_place& where) {
            // Items of a typed list may lack the apiVersion and kind, which the list implies.
            boost::json::object made{{"apiVersion", version}, {"kind", kind}};
            for (const auto& [key, value] : object.value()->get_object())
                made[key] = value;
            object.ignore_rest();
            const std::string name =
                mt::object_text(kind, mt::metadata_namespace(made), mt::metadata_name(made));
            mc::diagnostics wrong;
            for (const mc::share_loss& each : mc::translate_manifest_shares(made, to, name, wrong))
                losses.push_back(
                    {mt::loss_kind::device_share, name, each.field + ": " + each.what});
            // The paths are relative to a template, so the place of the object is reported.
            for (const mc::diagnostic& each : wrong.findings())
                mc::report(found, each.level, where, {},
                           name + ": " + each.path + ": " + each.message);
            objects.push_back(std::move(made));
        });
    return objects;
}

} // namespace

translation translate(const translate_request& asked, mc::diagnostics& found) {
    translation made;
    const std::vector<mc::document> documents = read_objects(asked.files, found);
    if (!found.ok())
        return made;
    std::vector<boost::json::object> objects;
    std::vector<mt::loss> losses;
    const auto lose = [&] {
        for (const mt::loss& each : losses)
            made.remarks.push_back(text_of(each));
        made.lost = !losses.empty();
    };
    if (!asked.to) {
        objects = with_shares(documents, *asked.shares, losses, found);
        lose();
        if (found.ok())
            made.manifests = text_of(std::move(objects), asked.json);
        return made;
    }
    mc::gang_options options;
    options.default_namespace = asked.default_namespace;
    options.dialect = asked.how.dialect;
    mc::gangs read = cli::read_gangs(documents, options, found);
    if (asked.shares)
        for (mt::gang_bundle& each : read.bundles)
            mc::translate_gang_shares(each, *asked.shares, read.losses, found);
    if (!found.ok())
        return made;
    objects = std::move(read.companions);
    losses = std::move(read.losses);
    std::vector<std::string> refusals;
    std::vector<mt::violation> wrong_companions;
    mt::check_companions(objects, wrong_companions);
    for (const mt::violation& wrong : wrong_companions)
        refusals.push_back(text_of(wrong));
    mt::written all = mt::write_all(*asked.to, read.bundles, asked.how);
    std::ranges::move(all.objects, std::back_inserter(objects));
    std::ranges::move(all.losses, std::back_inserter(losses));
    for (const mt::violation& wrong : all.violations)
        refusals.push_back(text_of(wrong));
    if (!read.apart.empty())
        made.remarks.push_back(text_of(read.apart));
    lose();
    if (read.bundles.empty() && read.idle == 0)
        refusals.emplace_back("there is no gang and no pod in the input");
    std::ranges::copy(refusals, std::back_inserter(made.remarks));
    made.refused = !refusals.empty();
    if (!made.refused)
        made.manifests = text_of(std::move(objects), asked.json);
    return made;
}

} // namespace cli
