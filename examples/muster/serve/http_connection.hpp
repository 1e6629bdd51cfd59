// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <muster/serve/answer.hpp>
#include <muster/serve/faults.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace asio = boost::asio;

class http_connection;

/// What a connection tells its server.
struct connection_hooks {
    std::function<void(const std::shared_ptr<http_connection>&)> request = {};
    std::function<void(const http_connection*)> gone = {};
};

/// One client of the server: bytes in and out, and what is under way with it. It lives for as long
/// as something of its own is pending, or its server keeps it.
class http_connection : public std::enable_shared_from_this<http_connection> {
public:
    using request_parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

    /// `hooks` outlive it. Without `secure` it speaks plain HTTP.
    http_connection(const connection_hooks& hooks, asio::ip::tcp::socket with,
                    asio::ssl::context* secure)
        : hooks_(&hooks), socket_(std::move(with)) {
        if (secure)
            tls_.emplace(socket_, *secure);
    }

    void start() {
        begin_request();
        if (!tls_) {
            read();
            return;
        }
        tls_->async_handshake(asio::ssl::stream_base::server,
                              [self = shared_from_this()](boost::system::error_code wrong) {
                                  wrong ? self->abort() : self->read();
                              });
    }

    void begin_request() {
        parser_.emplace();
        parser_->eager(true);
        parser_->body_limit(std::uint64_t{16} << 20U);
        parser_->header_limit(64U << 10U);
    }

    /// The request that arrived.
    [[nodiscard]] const request_parser::value_type& message() const { return parser_->get(); }
    /// Null for plain HTTP.
    [[nodiscard]] SSL* secure() { return tls_ ? tls_->native_handle() : nullptr; }
    [[nodiscard]] bool gone() const noexcept { return gone_; }
    /// Bytes that the client has not taken yet.
    [[nodiscard]] std::size_t unsent() const noexcept { return out_.size() + sending_.size(); }

    void read() {
        const auto done = [self = shared_from_this()](boost::system::error_code wrong,
                                                      std::size_t count) {
            if (wrong) {
                self->abort();
                return;
            }
            self->input_.append(self->buffer_.data(), count);
            self->take();
        };
        if (tls_)
            tls_->async_read_some(asio::buffer(buffer_), done);
        else
            socket_.async_read_some(asio::buffer(buffer_), done);
    }

    /// Goes on with what was read already, or reads.
    void take() {
        if (gone_)
            return;
        if (busy) {
            read(); // A client that speaks while it listens: only that it leaves would matter.
            return;
        }
        while (!input_.empty() && !parser_->is_done()) {
            boost::system::error_code wrong;
            const std::size_t used = parser_->put(asio::buffer(input_), wrong);
            input_.erase(0, used);
            if (wrong == boost::beast::http::error::need_more)
                break;
            if (wrong) {
                closes = true;
                send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                return;
            }
        }
        if (parser_->is_done())
            hooks_->request(shared_from_this());
        else
            read();
    }

    void send(std::string text) {
        out_ += text;
        if (sending_.empty())
            write();
    }

    /// Ends at once; with `reset` the client gets no goodbye.
    void abort(bool reset = true) {
        if (std::exchange(gone_, true))
            return;
        boost::system::error_code ignored;
        if (reset)
            socket_.set_option(asio::socket_base::linger(true, 0), ignored);
        socket_.close(ignored);
        hooks_->gone(this);
    }

    /// Ends once all is sent.
    bool closes = false;
    /// Is reset once all is sent.
    bool resets = false;
    /// An answer is still to come.
    bool busy = false;
    /// A request that a fault delays, and until when.
    std::optional<request> held = {};
    std::int64_t held_until = 0;
    std::optional<watch> watching = {};
    std::optional<fault> flaw = {};
    std::int64_t quiet_until = 0;
    std::int64_t ends_at = 0;
    std::int64_t next_bookmark = 0;
    std::size_t told = 0;

private:
    void write() {
        sending_ = std::exchange(out_, {});
        if (sending_.empty()) {
            if (resets)
                abort();
            else if (closes)
                close();
            return;
        }
        const auto done = [self = shared_from_this()](boost::system::error_code wrong,
                                                      std::size_t) {
            self->sending_.clear();
            wrong ? self->abort() : self->write();
        };
        if (tls_)
            asio::async_write(*tls_, asio::buffer(sending_), done);
        else
            asio::async_write(socket_, asio::buffer(sending_), done);
    }

    /// Ends as agreed: TLS says goodbye.
    void close() {
        if (gone_)
            return;
        if (tls_)
            tls_->async_shutdown(
                [self = shared_from_this()](boost::system::error_code) { self->abort(false); });
        else
            abort(false);
    }

    const connection_hooks* hooks_;
    asio::ip::tcp::socket socket_;
    std::optional<asio::ssl::stream<asio::ip::tcp::socket&>> tls_;
    std::optional<request_parser> parser_;
    std::array<char, 16384> buffer_{};
    std::string input_;
    std::string out_;
    std::string sending_;
    bool gone_ = false;
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
