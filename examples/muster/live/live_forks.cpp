// SPDX-License-Identifier: Apache-2.0
#include "live_forks.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {

namespace kube = muster::kube;

namespace {

/// Closes all other descriptors: connections of other clients would stay open until this copy ends.
void close_all_but(int kept) {
    constexpr unsigned first = 3; // after those of the standard streams
    const auto keep = static_cast<unsigned>(kept);
    if (keep > first)
        static_cast<void>(close_range(first, keep - 1, 0));
    static_cast<void>(close_range(keep + 1, ~0U, 0));
}

[[noreturn]] void run_copy(int connection, const std::function<kube::page_answer()>& make) {
    static_cast<void>(prctl(PR_SET_PDEATHSIG, SIGKILL));
    static_cast<void>(std::signal(SIGTERM, SIG_DFL));
    static_cast<void>(std::signal(SIGINT, SIG_DFL));
    static_cast<void>(alarm(forked_answers::time_limit));
    // Decisions come first.
    static_cast<void>(setpriority(PRIO_PROCESS, 0, 10));
    close_all_but(connection);
    // Nothing may leave the copy: it would go on as a second scheduler.
    try {
        kube::send_answer(connection, make());
    } catch (const std::exception& failure) {
        kube::send_answer(connection, {503, std::string(failure.what()) + "\n"});
        _exit(1);
    }
    _exit(0);
}

} // namespace

kube::page_answer forked_answers::answer(const kube::page_request& asked,
                                         const std::function<kube::page_answer()>& make) {
    forget_ended();
    if (copies_.size() >= max_copies)
        return {503, std::to_string(max_copies) +
                         " explanations are running already (retry when one has ended)\n"};
    const pid_t copy = fork();
    if (copy == 0)
        run_copy(asked.connection, make);
    if (copy < 0)
        return {503, std::string("no process can be made for the explanation: ") +
                         std::strerror(errno) + "\n"};
    copies_.push_back(copy);
    return {.elsewhere = true};
}

void forked_answers::forget_ended() {
    std::erase_if(copies_, [](pid_t each) { return waitpid(each, nullptr, WNOHANG) != 0; });
}

} // namespace cli
