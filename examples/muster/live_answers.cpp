// SPDX-License-Identifier: Apache-2.0
#include "live_answers.hpp"

#include <csignal>
#include <cstring>
#include <string>
#include <utility>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {

namespace kube = muster::kube;

namespace {

/// A client that is not answered here must not wait for this copy to close its connection.
void close_all_but(int kept) {
    constexpr unsigned first = 3; // after those of the standard streams
    const auto keep = static_cast<unsigned>(kept);
    if (keep > first)
        static_cast<void>(close_range(first, keep - 1, 0));
    static_cast<void>(close_range(keep + 1, ~0U, 0));
}

[[noreturn]] void be_copy(int connection, const std::function<kube::page_answer()>& make) {
    static_cast<void>(prctl(PR_SET_PDEATHSIG, SIGKILL));
    static_cast<void>(std::signal(SIGTERM, SIG_DFL));
    static_cast<void>(std::signal(SIGINT, SIG_DFL));
    static_cast<void>(alarm(answers_aside::longest));
    // Decisions come first.
    static_cast<void>(setpriority(PRIO_PROCESS, 0, 10));
    close_all_but(connection);
    kube::send_answer(connection, make());
    _exit(0);
}

} // namespace

kube::page_answer answers_aside::answer(const kube::page_request& asked,
                                        const std::function<kube::page_answer()>& make) {
    forget_ended();
    if (at_work_.size() >= most)
        return {503, std::to_string(most) + " explanations are being made already (expected a "
                                            "request when one is done)\n"};
    const pid_t copy = fork();
    if (copy == 0)
        be_copy(asked.connection, make);
    if (copy < 0)
        return {503, std::string("no process can be made for the explanation: ") +
                         std::strerror(errno) + "\n"};
    at_work_.push_back(copy);
    return {.elsewhere = true};
}

void answers_aside::forget_ended() {
    std::erase_if(at_work_, [](pid_t each) { return waitpid(each, nullptr, WNOHANG) != 0; });
}

} // namespace cli
