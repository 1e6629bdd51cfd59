// SPDX-License-Identifier: Apache-2.0
#include "translate_command.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/translate/job_companions.hpp>
#include <muster/translate/write_all.hpp>

#include "output.hpp"
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

} // namespace

translation translate(const translate_request& asked, mc::diagnostics& found) {
    translation made;
    const std::vector<mc::document> documents = read_objects(asked.files, found);
    if (!found.ok())
        return made;
    mc::gang_options options;
    options.default_namespace = asked.default_namespace;
    options.dialect = asked.how.dialect;
    mc::gangs read = cli::read_gangs(documents, options, found);
    if (!found.ok())
        return made;
    std::vector<boost::json::object> objects = std::move(read.companions);
    std::vector<mt::loss> losses = std::move(read.losses);
    std::vector<std::string> refusals;
    std::vector<mt::violation> wrong_companions;
    mt::check_companions(objects, wrong_companions);
    for (const mt::violation& wrong : wrong_companions)
        refusals.push_back(text_of(wrong));
    mt::written all = mt::write_all(asked.to, read.bundles, asked.how);
    std::ranges::move(all.objects, std::back_inserter(objects));
    std::ranges::move(all.losses, std::back_inserter(losses));
    for (const mt::violation& wrong : all.violations)
        refusals.push_back(text_of(wrong));
    if (!read.apart.empty())
        made.remarks.push_back(text_of(read.apart));
    for (const mt::loss& each : losses)
        made.remarks.push_back(text_of(each));
    if (read.bundles.empty() && read.idle == 0)
        refusals.emplace_back("there is no gang and no pod in the input");
    std::ranges::copy(refusals, std::back_inserter(made.remarks));
    made.lost = !losses.empty();
    made.refused = !refusals.empty();
    if (!made.refused)
        made.manifests = text_of(std::move(objects), asked.json);
    return made;
}

} // namespace cli
