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

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/job_reader.hpp>
#include <muster/apis/spark/job.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/gangs/job_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Memory as a JVM takes it, in MiB: 512m, 2g, 1024k; a number alone is in bytes.
[[nodiscard]] inline std::optional<std::int64_t> jvm_memory_of(const field& at) {
    const auto text = at.as_string();
    if (!text)
        return std::nullopt;
    std::int64_t amount = 0;
    const char* const end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, amount);
    constexpr std::int64_t most = std::int64_t{1} << 40;
    std::string_view unit(stop, static_cast<std::size_t>(end - stop));
    if (unit.size() > 1 && (unit.ends_with('i') || unit.ends_with('b') || unit.ends_with('B')))
        unit.remove_suffix(1);
    std::int64_t mib = -1;
    if (error == std::errc{} && amount >= 0 && amount < most) {
        if (unit.empty() || unit == "b")
            mib = amount >> 20;
        else if (unit == "k" || unit == "K")
            mib = amount >> 10;
        else if (unit == "m" || unit == "M")
            mib = amount;
        else if (unit == "g" || unit == "G")
            mib = amount << 10;
        else if (unit == "t" || unit == "T")
            mib = amount << 20;
    }
    if (mib >= 0)
        return mib;
    at.error(in_quotes(*text) + " is no amount of memory (expected e.g. 512m or 2g)");
    return std::nullopt;
}

inline void read_spark_part(const field& at, std::int64_t tenths, translate::spark_part& part) {
    object_reader object = at.as_object();
    if (!object.is_present())
        return;
    part.document = at.value()->if_object();
    for (const std::string_view map : {"labels", "annotations"})
        static_cast<void>(read_texts(object.optional(map)));
    // A whole number, or in the first versions a part of one.
    if (const field cores_at = object.optional("cores"); cores_at.is_present()) {
        const auto cores = read_quantity(cores_at);
        if (cores && cores->milli_up() <= 0)
            cores_at.error("found 0 (expected a number of cores above 0)");
        else if (cores)
            part.cpu = cores->milli_up() % 1000 == 0 ? std::to_string(cores->milli_up() / 1000)
                                                     : std::to_string(cores->milli_up()) + "m";
    }
    if (const auto request = object.optional("coreRequest").as_quantity_text())
        part.cpu = *request;
    part.cpu_limit = text_of(object.optional("coreLimit"));
    part.memory_mib = jvm_memory_of(object.optional("memory")).value_or(part.memory_mib);
    // Spark's own rule: a share of the memory, at least 384 MiB.
    part.overhead_mib = std::max<std::int64_t>(384, part.memory_mib * tenths / 10);
    if (const auto overhead = jvm_memory_of(object.optional("memoryOverhead")))
        part.overhead_mib = *overhead;
    part.count = count_of(object.optional("instances")).value_or(1);
    object.ignore_rest();
}

} // namespace detail

/// sparkoperator.k8s.io/v1beta2 and v1beta1 SparkApplication.
[[nodiscard]] inline translate::job_gangs
read_spark_application(object_reader& object, reading_context& context,
                       const translate::job_options& options) {
    translate::spark_job job;
    job.object = read_job_object(object, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    job.spec = spec_at.value() ? spec_at.value()->if_object() : nullptr;
    const std::string_view type = text_of(spec.optional("type"));
    // Programs outside of the JVM need more beside it.
    const std::int64_t tenths = type == "Python" || type == "R" ? 4 : 1;
    job.image = text_of(spec.optional("image"));
    detail::read_spark_part(spec.required("driver"), tenths, job.driver);
    detail::read_spark_part(spec.required("executor"), tenths, job.executor);
    job.driver.count = 1;
    const field scheduling_at = spec.optional("batchSchedulerOptions");
    if (scheduling_at.as_object().is_present())
        job.scheduling = &scheduling_at.value()->get_object();
    note_present(spec, {"restartPolicy", "dynamicAllocation", "timeToLiveSeconds", "suspend"},
                 job.lifecycle);
    spec.ignore_rest();
    object.finish();
    translate::job_plan plan = gangs_of(job, options);
    if (!can_make(plan, object))
        return {};
    return pods_of(job, std::move(plan), options);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
