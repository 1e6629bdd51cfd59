// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <muster/kube/connection.hpp>
#include <muster/kube/exec_credential.hpp>
#include <muster/kube/kubeconfig.hpp>
#include <muster/kube/time.hpp>

namespace muster::inline v0_1 {
namespace kube {

/// The bearer token of a connection, kept fresh: a token file is read again when what was read is a
/// minute old, a plugin is run again shortly before its token ends. What fails leaves the last
/// token in use, and is tried again half a minute later at the earliest.
class credentials {
public:
    explicit credentials(const connection& of)
        : token_(of.token), file_(of.token_file), plugin_(of.plugin) {}

    /// The token to use now; empty: none is to be sent. Nothing: one is to be sent and there is
    /// none; `trouble()` says why.
    [[nodiscard]] std::optional<std::string> token(instant now) {
        if (renews() && now.steady >= due_)
            fetch(now);
        if (renews() && token_.empty())
            return std::nullopt;
        return token_;
    }

    /// The server did not take the token `used`. True when there is another one now.
    [[nodiscard]] bool refused(const std::string& used, instant now) {
        if (renews() && token_ == used && now.steady >= next_refusal_) {
            next_refusal_ = now.steady + second;
            fetch(now);
        }
        return token_ != used;
    }

    [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

private:
    static constexpr std::int64_t file_age = minute;
    static constexpr std::int64_t pause = 30 * second;
    static constexpr std::int64_t leeway = 10 * second;

    [[nodiscard]] bool renews() const noexcept { return !file_.empty() || plugin_.has_value(); }

    void fetch(instant now) {
        if (!file_.empty()) {
            auto text = read_small_file(file_);
            while (text && !text->empty() && (text->back() == '\n' || text->back() == '\r'))
                text->pop_back();
            if (!text || text->empty() || text->find_first_of("\r\n") != std::string::npos) {
                due_ = now.steady + pause;
                trouble_ = file_ + ": no token can be read";
                return;
            }
            token_ = std::move(*text);
            due_ = now.steady + file_age;
            trouble_.clear();
            return;
        }
        if (now.steady < next_run_)
            return;
        next_run_ = now.steady + pause;
        const char* const home = std::getenv("HOME");
        auto made = run_exec_plugin(*plugin_, home ? home : "/");
        if (!made) {
            due_ = next_run_;
            trouble_ = made.error();
            return;
        }
        token_ = std::move(made->token);
        due_ = never_comes;
        if (made->expires)
            due_ = now.steady + (*made->expires - now.wall) - leeway;
        trouble_.clear();
    }

    std::string token_;
    std::string file_;
    std::optional<exec_plugin> plugin_;
    std::int64_t due_ = 0;
    std::int64_t next_run_ = 0;
    std::int64_t next_refusal_ = 0;
    std::string trouble_;
};

} // namespace kube
} // namespace muster::inline v0_1
