// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <utility>

#include <muster/document/nearest.hpp>
#include <muster/document/selector_text.hpp>
#include <muster/document/timestamp.hpp>

#include "cluster.hpp"
#include "policy.hpp"
#include "reading.hpp"

namespace cli {

void add_cluster(CLI::App& to, request& asked) {
    add_files(to, asked.files);
    to.add_flag("--strict", asked.strict,
                "Treat unknown fields and kinds, and all other warnings, as errors");
    to.add_option("-n,--namespace", asked.default_namespace, "Namespace of objects without one")
        ->capture_default_str();
    to.add_option_function<std::string>(
          "--now",
          [&asked](const std::string& text) {
              asked.now = muster::codec::parse_timestamp(text);
              if (!asked.now)
                  throw CLI::ValidationError(
                      "--now",
                      muster::codec::in_quotes(text) +
                          (muster::codec::is_distant_time(text)
                               ? " is out of range (expected a time of the years 1678 to 2261)"
                               : " is not an RFC 3339 time (expected e.g. 2023-12-17T13:48:16Z)"));
          },
          "Current time in RFC 3339 (default: the newest time in the input)")
        ->type_name("TIME");
    to.add_option("--queue-namespace", asked.queue_namespace, "Namespace of T9k Queues")
        ->capture_default_str();
    add_topology(to, asked.topology);
    add_policy(to, asked.how);
    to.add_option("--budget", asked.budget, "Search steps for each group (default: 2097152)")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40U))
        ->type_name("N");
}

void add_selector(CLI::App& to, muster::label_selector& selector, const char* help) {
    to.add_option_function<std::string>(
          "-l,--selector",
          [&selector](const std::string& text) {
              muster::codec::read_selector read = muster::codec::parse_label_selector(text);
              if (!read.fault.empty())
                  throw CLI::ValidationError("--selector",
                                             muster::codec::in_quotes(text) + ": " + read.fault);
              selector = std::move(read.selector);
          },
          help)
        ->type_name("SELECTOR");
}

void add_group_selector(CLI::App& to, request& asked) {
    add_selector(to, asked.groups_with,
                 "Print only groups and pods with these labels, in kubectl's syntax: a=b, a!=b, "
                 "a in (b,c), a, !a, ... (default: all). A group without an object has the labels "
                 "of its pods. The plan always covers all groups");
}

} // namespace cli
