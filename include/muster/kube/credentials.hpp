// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <muster/kube/connection.hpp>
#include <muster/kube/exec_credential.hpp>
#include <muster/kube/kubeconfig.hpp>
#include <muster/kube/time.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The credentials of a request: a bearer token, a client certificate, or both.
struct request_identity {
    std::string token; ///< empty = send no token
    /// Certificate and key from a credential plugin (PEM). Absent = use the connection's own.
    std::shared_ptr<const std::pair<std::string, std::string>> certificate_and_key;

    [[nodiscard]] friend bool operator==(const request_identity&,
                                         const request_identity&) = default;
};

/// Keeps the credentials of a connection fresh. Reads a token file again after one minute, and runs
/// a plugin again shortly before its token expires. If that fails, the last credentials stay in
/// use, and the next attempt is made after 30 s at the earliest.
class credentials {
public:
    explicit credentials(const connection& of) : file_(of.token_file), plugin_(of.plugin) {
        known_.token = of.token;
    }

    /// Returns the credentials to use now. Returns nullopt if they could not be fetched;
    /// `trouble()` says why.
    [[nodiscard]] std::optional<request_identity> identity(instant now) {
        if (renews() && now.steady >= due_)
            fetch(now);
        if (renews() && known_.token.empty() && !known_.certificate_and_key)
            return std::nullopt;
        return known_;
    }

    /// Call when the server has rejected the credentials `used`. Returns true if there are others
    /// now.
    [[nodiscard]] bool refused(const request_identity& used, instant now) {
        if (renews() && known_ == used && now.steady >= next_refusal_) {
            next_refusal_ = now.steady + second;
            fetch(now);
        }
        return !(known_ == used);
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
            known_.token = std::move(*text);
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
        known_.token = std::move(made->token);
        known_.certificate_and_key.reset();
        if (!made->certificate.empty())
            known_.certificate_and_key =
                std::make_shared<const std::pair<std::string, std::string>>(
                    std::move(made->certificate), std::move(made->key));
        due_ = never_comes;
        if (made->expires)
            due_ = now.steady + (*made->expires - now.wall) - leeway;
        trouble_.clear();
    }

    request_identity known_;
    std::string file_;
    std::optional<exec_plugin> plugin_;
    std::int64_t due_ = 0;
    std::int64_t next_run_ = 0;
    std::int64_t next_refusal_ = 0;
    std::string trouble_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
