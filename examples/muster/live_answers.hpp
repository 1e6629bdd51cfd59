// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <sys/types.h>

#include <muster/kube/health.hpp>

namespace cli {

/// Makes answers that take long in copies of the process, which see its memory as it was when they
/// were asked for. The process goes on meanwhile.
class answers_aside {
public:
    static constexpr std::size_t most = 2;
    /// After so many seconds a copy is killed, and its client gets nothing.
    static constexpr unsigned longest = 60;

    /// Starts a copy that calls `make` and sends the answer. Answers 503 itself if `most` copies
    /// are at work.
    [[nodiscard]] muster::kube::page_answer
    answer(const muster::kube::page_request& asked,
           const std::function<muster::kube::page_answer()>& make);

private:
    void forget_ended();

    std::vector<pid_t> at_work_;
};

} // namespace cli
