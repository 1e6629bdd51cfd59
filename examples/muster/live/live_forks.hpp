// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <sys/types.h>

#include <muster/kube/health.hpp>

namespace cli {

/// Computes slow answers in forked copies of the process. A copy sees the memory as of the request,
/// and the process continues.
class forked_answers {
public:
    static constexpr std::size_t max_copies = 2;
    /// Seconds after which a copy is killed. Its connection then closes without a complete answer.
    static constexpr unsigned time_limit = 60;

    /// Starts a copy that calls `make` and sends the answer. Answers 503 itself if `max_copies`
    /// copies are running.
    [[nodiscard]] muster::kube::page_answer
    answer(const muster::kube::page_request& asked,
           const std::function<muster::kube::page_answer()>& make);

private:
    void forget_ended();

    std::vector<pid_t> copies_;
};

} // namespace cli
