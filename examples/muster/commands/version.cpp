// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include <boost/json/object.hpp>
#include <muster/base/version.hpp>

#include "../options/look.hpp"
#include "../print/output.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "terminal.hpp"

namespace cli {
namespace {

int print_version(const std::string& format) {
    if (format == "table")
        return finish(write("muster " + version_text() + "\n"), false);
    boost::json::object out;
    out["apiVersion"] = "muster.dev/v1alpha1";
    out["kind"] = "Version";
    out["version"] = version_text();
    return finish(write(format == "json" ? json_text(out) : yaml_text(out)), false);
}

} // namespace

std::string version_text() {
    const auto [major, minor, patch] = muster::library_version;
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

runner declare_version(CLI::App& to) {
    const auto how = std::make_shared<look>();
    add_look(to, *how, {"table", "json", "yaml"});
    end_help(to, {.examples = {"muster version -o json"}});
    return [how] { return print_version(how->format); };
}

} // namespace cli
