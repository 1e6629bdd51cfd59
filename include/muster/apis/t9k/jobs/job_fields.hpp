// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/core/pod_template_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/t9k/jobs/containers.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/reader.hpp>
#include <muster/document/field_reader.hpp>

// The fields that several kinds of T9k jobs share.

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// As many pods as Kubernetes promises to hold; a job of more is taken for a slip of the pen.
inline constexpr std::int64_t largest_replica_count = 150'000;
/// Where every pod lists all replicas, as in TF_CONFIG.
inline constexpr std::int64_t largest_replica_list = 5'000;

[[nodiscard]] inline const boost::json::object* object_at(const field& at) {
    return at.value() != nullptr ? at.value()->if_object() : nullptr;
}

/// The list when all its elements are strings; others are errors.
[[nodiscard]] inline const boost::json::array* string_list_at(const field& at) {
    check_strings(at);
    return at.value() != nullptr ? at.value()->if_array() : nullptr;
}

/// The object when all its fields are strings; others are errors.
[[nodiscard]] inline const boost::json::object* string_map_at(const field& at) {
    object_reader object = at.as_object();
    object.for_each_string([](std::string_view, std::string_view) {});
    return object_at(at);
}

[[nodiscard]] inline std::string_view text_at(const field& at, std::string_view otherwise = {}) {
    const auto text = at.as_string();
    return text && !text->empty() ? *text : otherwise;
}

/// Letters, digits and '-' as a part of a host name has them.
[[nodiscard]] inline bool is_name_part(std::string_view text) {
    const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    return !text.empty() && plain(text.front()) && plain(text.back()) &&
           std::ranges::all_of(text, [&](char c) { return plain(c) || c == '-'; });
}

/// An enumerator by its word; other words are errors that list the right ones.
template<class Value>
[[nodiscard]] Value read_word(const field& at, Value otherwise, std::string_view expected,
                              std::initializer_list<std::pair<std::string_view, Value>> words) {
    const auto text = at.as_string();
    if (!text || text->empty())
        return otherwise;
    for (const auto& [word, value] : words)
        if (*text == word)
            return value;
    at.error("found " + in_quotes(*text) + ", expected " + std::string(expected));
    return otherwise;
}

[[nodiscard]] inline translate::restart_policy read_restart_word(const field& at, bool exit_codes) {
    using enum translate::restart_policy;
    if (exit_codes)
        return read_word(at, on_failure, "Always, OnFailure, Never or ExitCode",
                         {{"Always", always},
                          {"OnFailure", on_failure},
                          {"Never", never},
                          {"ExitCode", exit_code}});
    return read_word(at, on_failure, "Always, OnFailure or Never",
                     {{"Always", always}, {"OnFailure", on_failure}, {"Never", never}});
}

/// restartPolicy, a word or `{policy, limit}`. `backoff`: a limit for all replicas together was
/// given, so that an absent policy means to restart within it.
[[nodiscard]] inline translate::t9k_restart read_restart(const field& at, bool exit_codes,
                                                         bool backoff) {
    translate::t9k_restart read;
    if (!at.is_present()) {
        if (backoff)
            read.limit.reset();
        return read;
    }
    read.limit.reset();
    if (at.value()->is_string()) {
        read.policy = read_restart_word(at, exit_codes);
        return read;
    }
    object_reader object = at.as_object();
    const field policy_at = object.optional("policy");
    read.policy = read_restart_word(policy_at, exit_codes);
    read.limit = object.optional("limit").as_integer(0, largest_member_count);
    // Nothing is written: as if it were absent.
    if (object.is_present() && !policy_at.is_present() && !read.limit && !backoff)
        read.limit = 0;
    object.finish();
    return read;
}

[[nodiscard]] inline translate::clean_up_policy read_clean_up(const field& at) {
    using enum translate::clean_up_policy;
    return read_word(at, none, "All, None or Unfinished",
                     {{"All", all}, {"None", none}, {"Unfinished", unfinished}});
}

/// A PodTemplateSpec. `whole`: nothing stands in for containers that it does not list.
[[nodiscard]] inline const boost::json::object* read_template(const field& at, bool whole,
                                                              const reading_context& context) {
    check_pod_template(at, context);
    const boost::json::object* const read = object_at(at);
    if (whole && !translate::has_containers(read) && (read != nullptr || !at.is_present()))
        at.warning("there are no containers, and nothing can run (expected a template with some)");
    return read;
}

/// Of the kinds whose restart policy is a word.
[[nodiscard]] constexpr bool restarts_by_exit_code(translate::t9k_kind kind) {
    using enum translate::t9k_kind;
    return kind == tensorflow || kind == pytorch || kind == xgboost || kind == deepspeed;
}

/// An element of replicaSpecs, or DeepSpeed's `worker`, but for its type.
[[nodiscard]] inline translate::t9k_replica_spec read_replica_fields(object_reader& object,
                                                                     const translate::t9k_job& job,
                                                                     bool whole,
                                                                     reading_context& context) {
    translate::t9k_replica_spec read;
    read.replicas = object.optional("replicas").as_integer(0, largest_replica_count).value_or(1);
    read.restart = read_restart(object.optional("restartPolicy"), restarts_by_exit_code(job.kind),
                                job.run_policy.backoff_limit.has_value());
    read.pod_template = read_template(object.optional("template"), whole, context);
    return read;
}

/// replicaSpecs: types are there once each, and parts of names.
inline void read_replica_specs(const field& at, translate::t9k_job& job, reading_context& context) {
    using kind = translate::t9k_kind;
    const array_reader list = at.as_array();
    if (at.is_present() && at.value()->is_array() && list.size() == 0)
        at.error("there is none (expected at least one)");
    job.replica_specs.reserve(list.size());
    list.for_each_object([&](object_reader& each) {
        const field type_at = each.required("type");
        const auto type = type_at.as_string();
        const bool implied =
            (job.kind == kind::mpi || job.kind == kind::colossal_ai) && type == "launcher";
        translate::t9k_replica_spec read = read_replica_fields(each, job, !implied, context);
        if (job.kind == kind::pytorch)
            read.scaling_weight =
                each.optional("scalingWeight").as_integer(0, largest_member_count).value_or(1);
        each.finish();
        if (!type)
            return;
        read.type = *type;
        if (!is_name_part(*type))
            type_at.error(in_quotes(*type) +
                          " cannot be part of a pod's name (expected a-z, 0-9 and '-')");
        if (find_type(job, *type))
            type_at.error(in_quotes(*type) + " is there twice (expected every type once)");
        else
            job.replica_specs.push_back(read);
    });
}

/// A whole number written as one or as a string.
[[nodiscard]] inline std::optional<std::int64_t> read_rank(const field& at, std::int64_t count) {
    std::optional<std::int64_t> rank;
    if (at.is_present() && at.value()->is_string()) {
        const std::string_view text = *at.as_string();
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc{} && end == text.data() + text.size())
            rank = value;
    } else if (at.is_present() && at.value()->is_int64()) {
        rank = at.value()->get_int64();
    }
    if (rank && *rank >= 0 && *rank < count)
        return rank;
    if (count == 0)
        at.mismatch("no rank, as there are no replicas of this type");
    else
        at.mismatch("a rank from 0 to " + std::to_string(count - 1));
    return std::nullopt;
}

/// successRules or failureRules; types and ranks that do not exist are errors.
[[nodiscard]] inline std::vector<translate::t9k_rule> read_rules(const field& at,
                                                                 const translate::t9k_job& job) {
    std::vector<translate::t9k_rule> read;
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        translate::t9k_rule rule;
        if (each.size() == 0)
            each.error("the rule names no replica (expected at least one)");
        each.for_each([&](std::string_view type, const field& ranks_at) {
            const auto spec = find_type(job, type);
            if (!spec) {
                ranks_at.error("there is no replica type " + in_quotes(type) +
                               " (expected a type of replicaSpecs)");
                return;
            }
            if (!ranks_at.is_present())
                ranks_at.mismatch("a list of ranks");
            const array_reader ranks = ranks_at.as_array();
            if (ranks.is_present() && ranks.size() == 0)
                ranks_at.error("there is no rank (expected at least one)");
            translate::t9k_rule_part part{*spec, {}};
            ranks.for_each([&](const field& rank_at) {
                const auto rank = read_rank(rank_at, job.replica_specs[*spec].replicas);
                if (rank && std::ranges::find(part.ranks, *rank) == part.ranks.end())
                    part.ranks.push_back(*rank);
            });
            rule.push_back(std::move(part));
        });
        std::ranges::sort(rule, {}, &translate::t9k_rule_part::spec);
        read.push_back(std::move(rule));
    });
    return read;
}

[[nodiscard]] inline std::optional<std::vector<translate::t9k_port>> read_service(const field& at) {
    object_reader service = at.as_object();
    if (!service.is_present())
        return std::nullopt;
    std::vector<translate::t9k_port> read;
    const field ports_at = service.optional("ports");
    const array_reader ports = ports_at.as_array();
    ports.for_each_object([&](object_reader& each) {
        translate::t9k_port port;
        const field name_at = each.optional("name");
        port.name = text_at(name_at);
        port.number = each.required("port").as_integer(1, 65535).value_or(0);
        port.document = object_at(each);
        each.ignore({"protocol", "targetPort", "nodePort", "appProtocol"});
        each.finish();
        if (port.name.empty() && ports.size() > 1)
            each.error("the port has no name (expected one, as there are several ports)");
        if (std::ranges::find(read, port.name, &translate::t9k_port::name) != read.end())
            name_at.error(in_quotes(port.name) + " is there twice (expected every port once)");
        read.push_back(port);
    });
    service.finish();
    return read;
}

/// Elements of debug.replicaSpecs or pause.resumeSpecs.
[[nodiscard]] inline std::vector<translate::t9k_override>
read_overrides(const field& at, const translate::t9k_job& job, bool with_arguments) {
    std::vector<translate::t9k_override> read;
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        translate::t9k_override one;
        const field type_at = each.required("type");
        const auto type = type_at.as_string();
        one.skip_init_containers = each.optional("skipInitContainer").as_boolean().value_or(false);
        one.command = string_list_at(each.optional("command"));
        if (with_arguments)
            one.arguments = string_list_at(each.optional("args"));
        each.finish();
        if (!type)
            return;
        const auto spec = find_type(job, *type);
        if (!spec) {
            type_at.error("there is no replica type " + in_quotes(*type) +
                          " (expected a type of the job)");
            return;
        }
        one.spec = *spec;
        if (std::ranges::find(read, *spec, &translate::t9k_override::spec) != read.end())
            type_at.error(in_quotes(*type) + " is there twice (expected every type once)");
        else
            read.push_back(one);
    });
    return read;
}

/// runMode, after the replica specs. Some pages write `enable`.
[[nodiscard]] inline translate::t9k_run_mode read_run_mode(const field& at,
                                                           const translate::t9k_job& job) {
    translate::t9k_run_mode read;
    object_reader object = at.as_object();
    const auto enabled = [](object_reader& mode) {
        const auto short_word = mode.optional("enable").as_boolean();
        return mode.optional("enabled").as_boolean().value_or(short_word.value_or(false));
    };
    const field debug_at = object.optional("debug");
    object_reader debug = debug_at.as_object();
    read.debug = enabled(debug);
    read.debug_specs = read_overrides(debug.optional("replicaSpecs"), job, false);
    debug.finish();
    if (job.kind != translate::t9k_kind::beam) {
        const field pause_at = object.optional("pause");
        object_reader pause = pause_at.as_object();
        read.pause = enabled(pause);
        read.resume_specs = read_overrides(pause.optional("resumeSpecs"), job, true);
        pause.finish();
    }
    object.finish();
    return read;
}

[[nodiscard]] inline std::optional<translate::t9k_scheduler> read_scheduler(const field& at) {
    object_reader object = at.as_object();
    const field t9k_at = object.optional("t9kScheduler");
    object_reader t9k = t9k_at.as_object();
    object.finish();
    if (!t9k.is_present())
        return std::nullopt;
    translate::t9k_scheduler read;
    read.queue = text_at(t9k.optional("queue"), "default");
    read.priority = t9k.optional("priority").as_integer(0, 100).value_or(0);
    t9k.finish();
    return read;
}

[[nodiscard]] inline std::optional<translate::t9k_elastic> read_elastic(const field& at) {
    object_reader object = at.as_object();
    if (!object.is_present())
        return std::nullopt;
    translate::t9k_elastic read;
    read.enabled = object.optional("enabled").as_boolean().value_or(false);
    const field least_at = object.optional("minReplicas");
    const field most_at = object.optional("maxReplicas");
    const field expected_at = object.optional("expectedReplicas");
    const auto least = least_at.as_integer(0, largest_replica_count);
    const auto most = most_at.as_integer(0, largest_replica_count);
    const auto expected = expected_at.as_integer(0, largest_replica_count);
    object.finish();
    read.least = least.value_or(1);
    read.expected = expected.value_or(read.least);
    read.most = most.value_or(std::max(read.least, read.expected));
    if (!read.enabled)
        return read;
    if (!least_at.is_present())
        least_at.error("required, but missing");
    if (!most_at.is_present())
        most_at.error("required, but missing");
    if (!expected_at.is_present())
        object.warning("expectedReplicas is missing, and minReplicas are created");
    if (read.least < 1)
        least_at.mismatch("at least 1");
    if (least && most && read.least > read.most)
        least_at.error("minReplicas is greater than maxReplicas (expected at most " +
                       std::to_string(read.most) + ")");
    else if (expected && (read.expected < read.least || read.expected > read.most))
        expected_at.mismatch("a number from minReplicas to maxReplicas, " +
                             std::to_string(read.least) + " to " + std::to_string(read.most));
    return read;
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
