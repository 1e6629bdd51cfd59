// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/health.hpp>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace kube_health_test {

using namespace muster::kube;

namespace {

/// Answers as a copy of the process does: with a descriptor of its own.
page_answer aside(const page_request& asked) {
    const int copy = dup(asked.connection);
    send_answer(copy, {200, "aside\n"});
    close(copy);
    return {.elsewhere = true};
}

/// What the page says to these bytes; the page is polled between the client's steps.
std::string say(status_page& page, const std::string& bytes, std::int64_t now = 0,
                in_addr host = {htonl(INADDR_LOOPBACK)}) {
    const int socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(page.port());
    to.sin_addr = host;
    REQUIRE(connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    if (!bytes.empty())
        REQUIRE(send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(bytes.size()));
    const auto answer = [](const page_request& asked) -> page_answer {
        if (asked.path == "/query")
            return {asked.query.empty() ? 400 : 200, std::string(asked.query)};
        if (asked.path == "/aside")
            return aside(asked);
        if (asked.path == "/local")
            return {asked.is_local ? 200 : 403, "\n"};
        if (asked.path == "/healthz")
            return {200, "ok\n"};
        return {asked.path == "/readyz" ? 503 : 404, "no\n"};
    };
    for (int i = 0; i < 3; ++i)
        page.poll(now + i * 3 * second, answer);
    std::string said;
    char part[512];
    ssize_t got = 0;
    while ((got = recv(socket_, part, sizeof part, 0)) > 0)
        said.append(part, static_cast<std::size_t>(got));
    close(socket_);
    return said;
}

/// Returns an address of this machine that is not on loopback, or nullopt if it has none.
std::optional<in_addr> outer_address() {
    ifaddrs* all = nullptr;
    REQUIRE(getifaddrs(&all) == 0);
    std::optional<in_addr> found;
    for (const ifaddrs* each = all; each; each = each->ifa_next) {
        if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET)
            continue;
        sockaddr_in address{};
        std::memcpy(&address, each->ifa_addr, sizeof address);
        if (ntohl(address.sin_addr.s_addr) >> 24U != 127)
            found = address.sin_addr;
    }
    freeifaddrs(all);
    return found;
}

bool is_loopback_text(const char* text) {
    sockaddr_storage made{};
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        std::memcpy(&made, &v4, sizeof v4);
    } else {
        REQUIRE(inet_pton(AF_INET6, text, &v6.sin6_addr) == 1);
        v6.sin6_family = AF_INET6;
        std::memcpy(&made, &v6, sizeof v6);
    }
    return is_loopback(made);
}

} // namespace

TEST_CASE("loopback addresses are 127.0.0.0/8 and ::1, also mapped into IPv6") {
    for (const char* each : {"127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1"})
        CHECK(is_loopback_text(each));
    for (const char* each : {"126.255.255.255", "128.0.0.1", "10.0.0.127", "0.0.0.0", "::", "::2",
                             "::127.0.0.1", "7f00::1", "::ffff:10.0.0.1", "fe80::1"})
        CHECK_FALSE(is_loopback_text(each));
    CHECK_FALSE(is_loopback(sockaddr_storage{}));
}

TEST_CASE("a request is local by the address of its client, not by that of the page") {
    const std::string asked = "GET /local HTTP/1.1\r\n\r\n";
    for (const char* const address : {"127.0.0.1", "0.0.0.0"}) {
        auto page = status_page::listen(0, address);
        REQUIRE(page);
        CHECK(say(*page, asked).starts_with("HTTP/1.1 200 OK"));
        if (const auto outer = outer_address(); outer && address[0] == '0')
            CHECK(say(*page, asked, 0, *outer).starts_with("HTTP/1.1 403 Forbidden"));
    }
}

TEST_CASE("the page answers one request by its path, and closes") {
    auto page = status_page::listen(0);
    REQUIRE(page);
    CHECK(page->port() != 0);
    const std::string said = say(*page, "GET /healthz?verbose HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(said.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(said.ends_with("\r\n\r\nok\n"));
    CHECK(said.find("Content-Length: 3\r\n") != std::string::npos);
    CHECK(say(*page, "GET /readyz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 503 "));
    CHECK(say(*page, "GET /query?a=b%2Fc?d HTTP/1.1\r\n\r\n").ends_with("\r\n\r\na=b%2Fc?d"));
    CHECK(say(*page, "GET /query? HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 Bad Request"));
    CHECK(say(*page, "GET /x HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    CHECK_FALSE(page->busy());
}

TEST_CASE("a request that another process answers gets its answer alone, and the page closes") {
    auto page = status_page::listen(0);
    REQUIRE(page);
    const std::string said = say(*page, "GET /aside HTTP/1.1\r\n\r\n");
    CHECK(said.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(said.ends_with("\r\n\r\naside\n"));
    CHECK(said.find("HTTP/1.1", 1) == std::string::npos);
    CHECK_FALSE(page->busy());
}

TEST_CASE("the page is read-only, and nobody can hold it up") {
    auto page = status_page::listen(0);
    REQUIRE(page);
    CHECK(say(*page, "POST /healthz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    CHECK(say(*page, "GET healthz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    CHECK(say(*page, "\r\n\r\n").starts_with("HTTP/1.1 405 "));
    CHECK(say(*page, std::string(20'000, 'x')).empty());
    CHECK(say(*page, "GET /healthz").empty());
    CHECK_FALSE(page->busy());
}

TEST_CASE("idle connections do not block a probe: the oldest silent one is closed") {
    auto page = status_page::listen(0);
    REQUIRE(page);
    const auto open = [&] {
        const int socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(page->port());
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
        return socket_;
    };
    const auto nothing = [](const page_request&) { return page_answer{200, ""}; };
    std::vector<int> idle;
    for (int i = 0; i < 40; ++i) {
        idle.push_back(open());
        page->poll(0, nothing);
    }
    // All at the same time, so none of the connections has timed out.
    const auto is_closed = [](int socket_) {
        char byte = 0;
        return recv(socket_, &byte, 1, MSG_DONTWAIT) == 0;
    };
    CHECK(is_closed(idle.front()));
    CHECK_FALSE(is_closed(idle.back()));
    const int probe = open();
    const std::string asked = "GET /healthz HTTP/1.1\r\n\r\n";
    REQUIRE(send(probe, asked.data(), asked.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(asked.size()));
    page->poll(0, nothing);
    char part[64];
    CHECK(recv(probe, part, sizeof part, MSG_DONTWAIT) > 0);
    close(probe);
    for (const int each : idle)
        close(each);
}

TEST_CASE("an address that is none, or in use, is an error with words") {
    CHECK(status_page::listen(0, "nowhere").error().find("nowhere") == 0);
    auto page = status_page::listen(0);
    REQUIRE(page);
    CHECK(status_page::listen(page->port()).error().find("cannot be bound") != std::string::npos);
}

TEST_CASE("alive is who turns, and whose cycles end while they are owed") {
    progress of(minute);
    of.turned(0);
    CHECK(of.alive(minute));
    CHECK_FALSE(of.ready(minute));
    of.sees(true);
    CHECK(of.ready(minute));
    // Its server's silence is not its own fault.
    of.sees(false);
    CHECK(of.alive(minute));
    CHECK_FALSE(of.ready(minute));
    of.sees(true);
    CHECK_FALSE(of.alive(minute + 1));
    of.turned(10 * minute);
    CHECK(of.alive(10 * minute));
    of.owes_cycle(true, 10 * minute);
    of.turned(11 * minute + 1);
    CHECK_FALSE(of.alive(11 * minute + 1));
    of.cycled(11 * minute);
    CHECK(of.alive(11 * minute + 1));
    of.turned(20 * minute);
    of.owes_cycle(false, 20 * minute);
    CHECK(of.alive(20 * minute));
}

} // namespace kube_health_test
