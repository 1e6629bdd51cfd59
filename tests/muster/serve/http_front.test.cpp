// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/http_front.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include <muster/serve/certificates.hpp>

namespace api_server_http_front_test {

using namespace muster::testing::api_server;

constexpr std::int64_t second = 1'000'000'000;

/// A client of plain bytes, which sees what a server really sends.
class client {
public:
    explicit client(http_front& of) : front_(&of), socket_(io_) {}
    client(http_front& of, const std::string& authority, const key_pair* own = nullptr)
        : client(of) {
        tls_.add_certificate_authority(asio::buffer(authority));
        tls_.set_verify_mode(asio::ssl::verify_peer);
        if (own) {
            tls_.use_certificate(asio::buffer(own->certificate), asio::ssl::context::pem);
            tls_.use_private_key(asio::buffer(own->key), asio::ssl::context::pem);
        }
        speaks_tls_ = true;
    }

    /// False when the handshake fails.
    bool connect() {
        socket_.connect({asio::ip::address_v4::loopback(), front_->port()});
        if (!speaks_tls_) {
            socket_.non_blocking(true);
            return true;
        }
        secure_.emplace(socket_, tls_);
        if (earlier_)
            SSL_set_session(secure_->native_handle(), earlier_.get());
        bool done = false;
        bool good = false;
        secure_->async_handshake(asio::ssl::stream_base::client,
                                 [&](boost::system::error_code wrong) {
                                     done = true;
                                     good = !wrong;
                                 });
        for (int round = 0; round < 10'000 && !done; ++round)
            turn();
        return good;
    }

    void send(const std::string& text) {
        bool done = false;
        const auto sent = [&](boost::system::error_code, std::size_t) { done = true; };
        if (speaks_tls_)
            asio::async_write(*secure_, asio::buffer(text), sent);
        else
            asio::async_write(socket_, asio::buffer(text), sent);
        for (int round = 0; round < 10'000 && !done; ++round)
            turn();
    }

    /// Everything that comes until it contains `end`, or the connection ends.
    std::string read_until(std::string_view end) {
        for (int round = 0; round < 10'000 && !over_; ++round) {
            if (!reading_)
                read();
            turn();
            if (!end.empty() && got_.find(end) != std::string::npos)
                break;
        }
        return std::exchange(got_, {});
    }
    /// What comes within a few turns.
    std::string read_now() {
        for (int round = 0; round < 50 && !over_; ++round) {
            if (!reading_)
                read();
            turn();
        }
        return std::exchange(got_, {});
    }

    /// What another client can resume.
    [[nodiscard]] std::shared_ptr<SSL_SESSION> session() {
        return {SSL_get1_session(secure_->native_handle()), SSL_SESSION_free};
    }
    void resume(std::shared_ptr<SSL_SESSION> session) { earlier_ = std::move(session); }
    [[nodiscard]] bool resumed() { return SSL_session_reused(secure_->native_handle()) == 1; }

    [[nodiscard]] bool over() const { return over_; }
    [[nodiscard]] bool was_reset() const { return reset_; }
    std::int64_t now = 1'700'000'000 * second;

private:
    void turn() {
        io_.poll();
        io_.restart();
        front_->poll(now);
    }

    void read() {
        reading_ = true;
        const auto done = [this](boost::system::error_code wrong, std::size_t count) {
            reading_ = false;
            got_.append(buffer_.data(), count);
            over_ = static_cast<bool>(wrong);
            reset_ = wrong == asio::error::connection_reset;
        };
        if (speaks_tls_)
            secure_->async_read_some(asio::buffer(buffer_), done);
        else
            socket_.async_read_some(asio::buffer(buffer_), done);
    }

    http_front* front_;
    asio::io_context io_;
    asio::ssl::context tls_{asio::ssl::context::tls_client};
    asio::ip::tcp::socket socket_;
    std::optional<asio::ssl::stream<asio::ip::tcp::socket&>> secure_;
    std::shared_ptr<SSL_SESSION> earlier_;
    std::array<char, 65536> buffer_{};
    std::string got_;
    bool speaks_tls_ = false;
    bool reading_ = false;
    bool over_ = false;
    bool reset_ = false;
};

struct server {
    explicit server(front_options how = {}) : front(store, trouble, std::move(how)) {}
    api_store store;
    faults trouble;
    http_front front;
};

std::string get(const std::string& target) {
    return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

std::string post(const std::string& target, const std::string& body) {
    return "POST " + target +
           " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
}

const std::string maps = "/api/v1/namespaces/default/configmaps";

TEST_CASE("requests of one connection are answered one after the other") {
    server on;
    client by(on.front);
    REQUIRE(by.connect());
    by.send(get("/readyz"));
    CHECK(by.read_until("ok").find("HTTP/1.1 200") == 0);
    by.send(post(maps, R"({"metadata":{"name":"a"}})") + get(maps + "/a"));
    const std::string both = by.read_until("HTTP/1.1 200");
    CHECK(both.find("HTTP/1.1 201") == 0);
    by.send("nonsense\r\n\r\n");
    CHECK(by.read_until("").find("HTTP/1.1 400") != std::string::npos);
    CHECK(by.over());
}

TEST_CASE("a watch sends each change when it happens, and ends when its time is up") {
    server on;
    client by(on.front);
    client writer(on.front);
    REQUIRE(by.connect());
    REQUIRE(writer.connect());
    by.send(get(maps + "?watch=1&timeoutSeconds=10"));
    CHECK(by.read_now().find("Transfer-Encoding: chunked") != std::string::npos);
    writer.send(post(maps, R"({"metadata":{"name":"a"}})"));
    CHECK(by.read_now().find(R"({"type":"ADDED")") != std::string::npos);
    CHECK(on.front.watches() == 1);
    by.now += 10 * second;
    CHECK(by.read_now() == "0\r\n\r\n");
    CHECK_FALSE(by.over());
    by.send(get("/readyz"));
    CHECK(by.read_until("ok").find("HTTP/1.1 200") == 0);
}

TEST_CASE("bookmarks come once a minute to a watch that takes them") {
    server on;
    client by(on.front);
    REQUIRE(by.connect());
    by.send(get(maps + "?watch=1&allowWatchBookmarks=true"));
    by.read_now();
    by.now += 61 * second;
    CHECK(by.read_now().find("BOOKMARK") != std::string::npos);
    CHECK(by.read_now().empty());
}

TEST_CASE("tokens and client certificates say who asks, all others are turned away") {
    const certificate_authority authority;
    const key_pair own = authority.server({"server", {}, "DNS:localhost,IP:127.0.0.1"});
    const key_pair known = authority.client({"someone"});
    front_options how;
    how.tls = tls_identity{own.certificate, own.key, authority.certificate()};
    how.tokens = {{"secret", "robot"}};
    how.needs_user = true;
    server on(how);
    client stranger(on.front, authority.certificate());
    REQUIRE(stranger.connect());
    stranger.send(get(maps));
    CHECK(stranger.read_until("Unauthorized").find("HTTP/1.1 401") == 0);
    const auto with_token = [](const std::string& token) {
        return "DELETE " + maps + "/a HTTP/1.1\r\nAuthorization: Bearer " + token + "\r\n\r\n";
    };
    stranger.read_now();
    stranger.send(with_token("wrong"));
    CHECK(stranger.read_until("\n}").find("HTTP/1.1 401") == 0);
    stranger.send(with_token("secret"));
    CHECK(stranger.read_until("404").find("HTTP/1.1 404") == 0);
    CHECK(on.store.journal().back().user == "robot");
    client friendly(on.front, authority.certificate(), &known);
    REQUIRE(friendly.connect());
    friendly.send("DELETE " + maps + "/b HTTP/1.1\r\n\r\n");
    CHECK(friendly.read_until("404").find("HTTP/1.1 404") == 0);
    CHECK(on.store.journal().back().user == "someone");
    const certificate_authority other;
    client deceived(on.front, other.certificate());
    CHECK_FALSE(deceived.connect());
}

TEST_CASE("a client resumes its session, where certificates of clients are asked for as well") {
    const certificate_authority authority;
    const key_pair own = authority.server({"server", {}, "DNS:localhost,IP:127.0.0.1"});
    front_options how;
    how.tls = tls_identity{own.certificate, own.key, authority.certificate()};
    server on(how);
    client first(on.front, authority.certificate());
    REQUIRE(first.connect());
    first.send(get(maps));
    CHECK(first.read_until("List").find("HTTP/1.1 200") == 0);
    client again(on.front, authority.certificate());
    again.resume(first.session());
    REQUIRE(again.connect());
    CHECK(again.resumed());
    again.send(get(maps));
    CHECK(again.read_until("List").find("HTTP/1.1 200") == 0);
}

TEST_CASE("a certificate that is out of date, and TLS 1.1, are there to be refused") {
    const certificate_authority authority;
    const auto tried = [&](const certificate_wish& wish, bool old) {
        const key_pair own = authority.server(wish);
        front_options how;
        how.tls = tls_identity{own.certificate, own.key, {}, old};
        server on(how);
        client by(on.front, authority.certificate());
        return by.connect();
    };
    CHECK(tried({"s", {}, "IP:127.0.0.1"}, false));
    CHECK_FALSE(tried({"s", {}, "IP:127.0.0.1", -7200, -3600}, false));
    CHECK_FALSE(tried({"s", {}, "IP:127.0.0.1"}, true));
}

TEST_CASE("a lost answer belongs to a request that was carried out, a reset to one that was not") {
    server on;
    on.trouble.plan({"create", "configmaps", {}, 0, 1, 100, {fault::effect::lose_answer}});
    on.trouble.plan({"create", "configmaps", {}, 1, 1, 100, {fault::effect::reset}});
    for (const char* name : {"a", "b"}) {
        client by(on.front);
        REQUIRE(by.connect());
        by.send(post(maps, R"({"metadata":{"name":")" + std::string(name) + R"("}})"));
        CHECK(by.read_until("").empty());
        CHECK(by.was_reset());
    }
    const auto kind = on.store.kinds().at("", "v1", "configmaps");
    CHECK(on.store.objects().find(kind, {"default", "a"}));
    CHECK_FALSE(on.store.objects().find(kind, {"default", "b"}));
}

TEST_CASE("a planned refusal names its code and when to come back") {
    server on;
    fault busy{fault::effect::refuse, 429, 3};
    on.trouble.plan({"list", {}, {}, 0, 2, 100, busy});
    client by(on.front);
    REQUIRE(by.connect());
    for (int round = 0; round < 2; ++round) {
        by.send(get(maps));
        const std::string made = by.read_until("\"code\":429");
        CHECK(made.find("HTTP/1.1 429") == 0);
        CHECK(made.find("Retry-After: 3") != std::string::npos);
    }
    by.read_now();
    by.send(get(maps));
    CHECK(by.read_until("items").find("HTTP/1.1 200") == 0);
}

TEST_CASE("a delayed request is taken up when its time has come") {
    server on;
    fault late{fault::effect::delay};
    late.milliseconds = 5000;
    on.trouble.plan({"create", {}, {}, 0, 1, 100, late});
    client by(on.front);
    REQUIRE(by.connect());
    by.send(post(maps, R"({"metadata":{"name":"a"}})"));
    CHECK(by.read_now().empty());
    CHECK(on.store.journal().empty());
    by.now += 5 * second;
    CHECK(by.read_until("uid").find("HTTP/1.1 201") == 0);
}

TEST_CASE("an answer and a watch can break off in the midst") {
    server on;
    on.trouble.plan({"get", {}, {}, 0, 1, 100, {fault::effect::truncate}});
    fault half{fault::effect::half_line};
    half.events = 1;
    on.trouble.plan({"watch", {}, {}, 0, 1, 100, half});
    fault held{fault::effect::hold_watch};
    held.milliseconds = 60'000;
    on.trouble.plan({"watch", {}, {}, 1, 1, 100, held});
    client writer(on.front);
    REQUIRE(writer.connect());
    for (const char* name : {"a", "b"}) {
        writer.send(post(maps, R"({"metadata":{"name":")" + std::string(name) + R"("}})"));
        writer.read_now();
    }
    writer.send(get(maps + "/a"));
    const std::string cut = writer.read_until("");
    CHECK(cut.find("Content-Length") != std::string::npos);
    CHECK(cut.find("}\n") == std::string::npos);
    client by(on.front);
    REQUIRE(by.connect());
    by.send(get(maps + "?watch=1"));
    const std::string told = by.read_until("");
    CHECK(by.was_reset());
    CHECK(told.find(R"("name":"a")") != std::string::npos);
    CHECK(told.find("}}\n\r\n0") == std::string::npos);
    client patient(on.front);
    REQUIRE(patient.connect());
    patient.send(get(maps + "?watch=1"));
    CHECK(patient.read_now().find("ADDED") == std::string::npos);
    patient.now += 60 * second;
    CHECK(patient.read_now().find("ADDED") != std::string::npos);
}

TEST_CASE("410 comes as an answer or within the stream") {
    server on;
    on.trouble.plan({"watch", {}, {}, 0, 1, 100, {fault::effect::gone}});
    on.trouble.plan({"watch", {}, {}, 1, 1, 100, {fault::effect::gone_in_stream}});
    client by(on.front);
    REQUIRE(by.connect());
    by.send(get(maps + "?watch=1"));
    CHECK(by.read_until("\"code\":410").find("HTTP/1.1 410") == 0);
    by.read_now();
    by.send(get(maps + "?watch=1"));
    const std::string told = by.read_until("0\r\n\r\n");
    CHECK(told.find("HTTP/1.1 200") == 0);
    CHECK(told.find("ERROR") != std::string::npos);
}

} // namespace api_server_http_front_test
