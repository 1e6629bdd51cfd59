// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <muster/adapter/backoff.hpp>
#include <muster/adapter/instant.hpp>
#include <muster/adapter/token_bucket.hpp>
#include <muster/base/timestamp.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

using adapter::backoff;
using adapter::backoff_options;
using adapter::instant;
using adapter::jitter;
using adapter::millisecond;
using adapter::minute;
using adapter::never_comes;
using adapter::second;
using adapter::token_bucket;

/// A wall clock time as MicroTime has it: UTC with exactly six decimals.
[[nodiscard]] inline std::string micro_time_text(std::int64_t wall) {
    const std::int64_t fraction = ((wall % second) + second) % second;
    std::string text = time_text(wall - fraction);
    text.back() = '.';
    muster::detail::append_padded(text, fraction / 1000, 6, 'Z');
    return text;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
