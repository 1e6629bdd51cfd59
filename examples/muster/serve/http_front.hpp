// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include <muster/serve/api_store.hpp>
#include <muster/serve/faults.hpp>
#include <muster/serve/http_connection.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Certificate and key of a server, PEM; with `client_ca` certificates of clients are asked for and
/// checked against it.
struct tls_identity {
    std::string certificate;
    std::string key;
    std::string client_ca = {};
    /// Speaks nothing newer than TLS 1.1, which no client should accept.
    bool only_old = false;
};

struct front_options {
    std::uint16_t port = 0; ///< 0: one that is free
    /// Absent: plain HTTP, as `kubectl proxy` speaks.
    std::optional<tls_identity> tls = {};
    /// Bearer tokens, and who they are.
    std::map<std::string, std::string, std::less<>> tokens = {};
    /// Asked first; answers what is none of the API's.
    std::function<std::optional<answer>(const request&)> aside = {};
    /// Without token or certificate: 401. Otherwise such a client is `anonymous`.
    bool needs_user = false;
};

/// Serves an api_store by HTTP/1.1 on 127.0.0.1, in one thread. Sockets are the only thing here
/// that is not a value: time is what the caller says at each poll.
class http_front {
public:
    http_front(api_store& store, faults& trouble, front_options how)
        : store_(&store),
          trouble_(&trouble),
          how_(std::move(how)),
          tls_(asio::ssl::context::tls_server),
          acceptor_(io_, {asio::ip::address_v4::loopback(), how_.port}) {
        hooks_.request = [this](const shared_connection& with) { meet(with); };
        hooks_.gone = [this](const connection* which) { forget(which); };
        if (how_.tls)
            set_up(*how_.tls);
        accept();
    }
    http_front(const http_front&) = delete;
    http_front& operator=(const http_front&) = delete;

    [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    [[nodiscard]] std::string url() const {
        return (how_.tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port());
    }
    /// Replaces who may come in.
    void set_tokens(std::map<std::string, std::string, std::less<>> tokens) {
        how_.tokens = std::move(tokens);
    }
    /// How many watches are open.
    [[nodiscard]] std::size_t watches() const {
        std::size_t made = 0;
        for (const auto& each : connections_)
            made += each->watching ? 1U : 0U;
        return made;
    }

    /// Does what can be done now, `now` in nanoseconds since 1970. True when it did anything.
    bool poll(std::int64_t now) {
        store_->set_time(now);
        bool did = io_.poll() > 0;
        did = attend(now) || did;
        io_.restart();
        return did;
    }

    /// As poll(), but waits for something to do for up to `longest`.
    bool wait(std::int64_t now, std::chrono::milliseconds longest) {
        if (poll(now))
            return true;
        const bool did = io_.run_one_for(longest) > 0;
        io_.restart();
        return did;
    }

    /// Resets every connection, as a server does that is killed.
    void drop_all() {
        for (const auto& each : std::vector(connections_))
            each->abort();
    }

private:
    using connection = http_connection;
    using shared_connection = std::shared_ptr<connection>;
    using socket = asio::ip::tcp::socket;

    void set_up(const tls_identity& as) {
        namespace ssl = asio::ssl;
        tls_.use_certificate_chain(asio::buffer(as.certificate));
        tls_.use_private_key(asio::buffer(as.key), ssl::context::pem);
        SSL_CTX_set_min_proto_version(tls_.native_handle(),
                                      as.only_old ? TLS1_VERSION : TLS1_2_VERSION);
        if (as.only_old) {
            SSL_CTX_set_max_proto_version(tls_.native_handle(), TLS1_1_VERSION);
            SSL_CTX_set_cipher_list(tls_.native_handle(), "ALL:@SECLEVEL=0");
        }
        if (!as.client_ca.empty()) {
            tls_.add_certificate_authority(asio::buffer(as.client_ca));
            tls_.set_verify_mode(ssl::verify_peer);
            // Without a name of its own no session of a verified client can be resumed.
            constexpr unsigned char name[] = {'m', 'u', 's', 't', 'e', 'r'};
            SSL_CTX_set_session_id_context(tls_.native_handle(), name, sizeof name);
        }
    }

    void accept() {
        acceptor_.async_accept([this](boost::system::error_code wrong, socket with) {
            if (!wrong) {
                boost::system::error_code ignored;
                with.set_option(asio::ip::tcp::no_delay(true), ignored);
                connections_.push_back(std::make_shared<connection>(hooks_, std::move(with),
                                                                    how_.tls ? &tls_ : nullptr));
                connections_.back()->start();
            }
            accept();
        });
    }

    void forget(const connection* which) {
        std::erase_if(connections_, [&](const auto& each) { return each.get() == which; });
    }

    /// A request is whole.
    void meet(const shared_connection& with) {
        const auto& message = with->message();
        const auto text = [&](boost::beast::http::field name) {
            const auto found = message[name];
            return std::string(found.data(), found.size());
        };
        request asked;
        asked.method = std::string(message.method_string());
        const std::string target(message.target());
        read_target(target, asked);
        asked.accept = text(boost::beast::http::field::accept);
        if (const std::string type = text(boost::beast::http::field::content_type); !type.empty())
            asked.content_type = type;
        asked.body = message.body();
        with->closes = !message.keep_alive();
        with->busy = true;
        const auto user = user_of(*with, text(boost::beast::http::field::authorization));
        if (!user) {
            give(with, refused(401, "Unauthorized", "Unauthorized"));
            return;
        }
        asked.user = *user;
        if (const auto made = how_.aside ? how_.aside(asked) : std::nullopt) {
            give(with, *made);
            return;
        }
        with->flaw = trouble(asked);
        if (with->flaw && with->flaw->what == fault::effect::delay) {
            with->held_until = store_->time() + with->flaw->milliseconds * 1'000'000;
            with->held = std::move(asked);
            with->flaw.reset();
            return;
        }
        carry_out(with, asked);
    }

    [[nodiscard]] std::optional<fault> trouble(const request& asked) {
        const request_name name = store_->name_of(asked);
        return trouble_->meet(name.verb, name.resource, name.name);
    }

    [[nodiscard]] std::optional<std::string> user_of(connection& with,
                                                     std::string_view authorization) const {
        constexpr std::string_view bearer = "Bearer ";
        if (authorization.starts_with(bearer)) {
            const auto found = how_.tokens.find(authorization.substr(bearer.size()));
            return found == how_.tokens.end() ? std::nullopt : std::optional(found->second);
        }
        if (SSL* const secure = with.secure())
            if (X509* const shown = SSL_get1_peer_certificate(secure)) {
                std::array<char, 256> name{};
                X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, name.data(),
                                          static_cast<int>(name.size()));
                X509_free(shown);
                return name.data();
            }
        return how_.needs_user ? std::nullopt : std::optional<std::string>("anonymous");
    }

    void carry_out(const shared_connection& with, const request& asked) {
        using effect = fault::effect;
        const fault flaw = with->flaw.value_or(fault{effect::delay});
        if (flaw.what == effect::reset) {
            with->abort();
            return;
        }
        if (flaw.what == effect::refuse) {
            answer made = refused(flaw.code, word_for(flaw.code), "a planned fault");
            made.retry_after = flaw.retry_after;
            give(with, made);
            return;
        }
        if (flaw.what == effect::gone) {
            give(with, refused(410, "Expired", "a planned fault"));
            return;
        }
        if (flaw.what == effect::compact)
            store_->compact();
        const answer made = store_->handle(asked);
        if (flaw.what == effect::lose_answer) {
            with->abort();
            return;
        }
        if (made.opens)
            begin_watch(with, *made.opens, flaw);
        else
            give(with, made, flaw.what == effect::truncate);
    }

    [[nodiscard]] static std::string_view word_for(int code) {
        switch (code) {
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "NotFound";
        case 409:
            return "Conflict";
        case 410:
            return "Expired";
        case 429:
            return "TooManyRequests";
        case 503:
            return "ServiceUnavailable";
        case 504:
            return "Timeout";
        default:
            return "InternalError";
        }
    }

    [[nodiscard]] static std::string head(int code, bool closes) {
        return "HTTP/1.1 " + std::to_string(code) + " " +
               (code < 300 ? "OK" : std::string(word_for(code))) +
               (closes ? "\r\nConnection: close" : "");
    }

    void give(const shared_connection& with, const answer& made, bool half = false) {
        const bool plain = !made.text.empty();
        std::string body = plain ? made.text : json::serialize(made.body) + "\n";
        std::string text = head(made.code, with->closes) + "\r\nContent-Type: " +
                           (plain ? std::string(made.type_of_text) : "application/json") +
                           "\r\nContent-Length: " + std::to_string(body.size());
        if (made.retry_after > 0)
            text += "\r\nRetry-After: " + std::to_string(made.retry_after);
        text += "\r\n\r\n";
        if (half) {
            body.resize(body.size() / 2);
            with->closes = true;
        }
        with->busy = false;
        with->begin_request();
        with->send(text + body);
        if (!with->closes)
            with->take();
    }

    void begin_watch(const shared_connection& with, watch what, const fault& flaw) {
        using effect = fault::effect;
        constexpr std::int64_t second = 1'000'000'000;
        const std::int64_t now = store_->time();
        what.expired = what.expired || flaw.what == effect::gone_in_stream;
        with->ends_at = now + (what.seconds > 0 ? what.seconds : 1800) * second;
        with->next_bookmark = now + 60 * second;
        with->quiet_until =
            flaw.what == effect::hold_watch ? now + flaw.milliseconds * 1'000'000 : 0;
        with->watching = std::move(what);
        with->told = 0;
        with->send(head(200, with->closes) + "\r\nContent-Type: application/json\r\n"
                                             "Transfer-Encoding: chunked\r\n\r\n");
        with->read();
        pump(*with, now);
    }

    [[nodiscard]] static std::string chunk(std::string_view text) {
        constexpr std::string_view digits = "0123456789abcdef";
        std::string size;
        for (std::size_t left = text.size(); left > 0; left /= 16)
            size.insert(size.begin(), digits[left % 16]);
        return size + "\r\n" + std::string(text) + "\r\n";
    }

    /// Tells a watch what it has not seen. True when it said anything.
    bool pump(connection& with, std::int64_t now) {
        using effect = fault::effect;
        // A client that does not read must not fill our memory.
        constexpr std::size_t most_unsent = std::size_t{32} << 20U;
        if (now < with.quiet_until || with.closes || with.unsent() > most_unsent)
            return false;
        bool said = false;
        if (store_->behind(*with.watching)) {
            const bool expired = with.watching->expired;
            std::string all;
            for (std::string& line : store_->events(*with.watching)) {
                said = true;
                const bool cut = with.flaw && with.told >= with.flaw->events;
                if (cut && with.flaw->what == effect::half_line) {
                    cut_off(with, all + chunk(line).substr(0, line.size() / 2));
                    return true;
                }
                if (cut && with.flaw->what == effect::end_watch) {
                    end_watch(with, std::move(all));
                    return true;
                }
                all += chunk(line);
                ++with.told;
            }
            if (expired) {
                end_watch(with, std::move(all));
                return true;
            }
            if (!all.empty())
                with.send(std::move(all));
        }
        constexpr std::int64_t minute = 60'000'000'000;
        if (with.watching->bookmarks && now >= with.next_bookmark) {
            with.next_bookmark = now + minute;
            with.send(chunk(store_->bookmark(*with.watching)));
            said = true;
        }
        if (now >= with.ends_at) {
            end_watch(with, {});
            said = true;
        }
        return said;
    }

    /// Sends what is left, and resets.
    static void cut_off(connection& with, std::string rest) {
        with.watching.reset();
        with.resets = true;
        with.send(std::move(rest));
    }

    static void end_watch(connection& with, std::string rest) {
        with.watching.reset();
        with.busy = false;
        with.begin_request();
        with.send(rest + "0\r\n\r\n");
    }

    bool attend(std::int64_t now) {
        bool did = false;
        for (const auto& each : std::vector(connections_)) {
            if (each->gone())
                continue;
            if (each->held && now >= each->held_until) {
                const request asked = *std::exchange(each->held, std::nullopt);
                carry_out(each, asked);
                did = true;
            }
            if (each->watching)
                did = pump(*each, now) || did;
        }
        return did;
    }

    api_store* store_;
    faults* trouble_;
    front_options how_;
    connection_hooks hooks_;
    asio::io_context io_;
    asio::ssl::context tls_;
    asio::ip::tcp::acceptor acceptor_;
    std::vector<shared_connection> connections_;
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
