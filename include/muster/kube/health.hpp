// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/result.hpp>
#include <muster/kube/time.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Whether a scheduler lives and is ready, from what it reports of itself. Alive: its loop goes
/// round, whether or not it leads or hears of its server, and while it leads and sees well its
/// cycles end. Ready: besides, it sees well.
class progress {
public:
    /// `longest`: how long a cycle or a turn of the loop may take.
    explicit progress(std::int64_t longest = minute) noexcept : longest_(longest) {}

    void turned(std::int64_t now) noexcept { turned_ = now; }
    void cycled(std::int64_t now) noexcept { cycled_ = now; }
    /// It leads, sees well and made no cycle, since now if it did not before.
    void owes_cycle(bool owes, std::int64_t now) noexcept {
        if (!owes)
            owed_ = never_comes;
        else if (owed_ == never_comes)
            owed_ = now;
    }
    /// All is listed, and what is known is no older than it may be to be acted on.
    void sees(bool well) noexcept { sees_ = well; }

    [[nodiscard]] bool alive(std::int64_t now) const noexcept {
        return now - turned_ <= longest_ &&
               (owed_ == never_comes || now - std::max(owed_, cycled_) <= longest_);
    }
    [[nodiscard]] bool ready(std::int64_t now) const noexcept { return sees_ && alive(now); }

private:
    std::int64_t longest_;
    std::int64_t turned_ = 0;
    std::int64_t cycled_ = 0;
    std::int64_t owed_ = never_comes;
    bool sees_ = false;
};

/// Returns true if an address is on loopback: 127.0.0.0/8, also as an IPv4-mapped IPv6 address, or
/// `::1`.
[[nodiscard]] inline bool is_loopback(const sockaddr_storage& address) noexcept {
    const auto is_loopback_v4 = [](std::uint32_t network_order) {
        return ntohl(network_order) >> 24U == 127;
    };
    if (address.ss_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, &address, sizeof v4);
        return is_loopback_v4(v4.sin_addr.s_addr);
    }
    if (address.ss_family != AF_INET6)
        return false;
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address, sizeof v6);
    const std::uint8_t* const bytes = v6.sin6_addr.s6_addr;
    if (std::memcmp(bytes, &in6addr_loopback, sizeof in6addr_loopback) == 0)
        return true;
    constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::equal(mapped.begin(), mapped.end(), bytes) && bytes[12] == 127;
}

/// A GET request to a status page.
struct page_request {
    std::string_view path;
    std::string_view query; ///< undecoded text after `?`
    bool is_local = false;  ///< the client's address is on loopback
    int connection = -1;    ///< file descriptor, for `page_answer::elsewhere`
};

/// A reply of the status page.
struct page_answer {
    int status = 200;
    std::string body{};
    /// A copy of the process answers: the page closes its own descriptor of the connection and
    /// writes nothing. The copy calls `send_answer`.
    bool elsewhere = false;
};

namespace detail {

[[nodiscard]] inline std::string reply_text(const page_answer& of) {
    const char* const word = of.status == 200   ? "OK"
                             : of.status == 400 ? "Bad Request"
                             : of.status == 403 ? "Forbidden"
                             : of.status == 404 ? "Not Found"
                             : of.status == 405 ? "Method Not Allowed"
                                                : "Service Unavailable";
    return "HTTP/1.1 " + std::to_string(of.status) + " " + word +
           "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: " +
           std::to_string(of.body.size()) + "\r\nConnection: close\r\n\r\n" + of.body;
}

} // namespace detail

/// Sends the answer over a connection of a status page that no other process uses. Makes the
/// connection blocking. Returns when all is sent, or when no byte could be sent for 5 s.
inline void send_answer(int connection, const page_answer& answer) {
    const int flags = fcntl(connection, F_GETFL);
    static_cast<void>(fcntl(connection, F_SETFL, flags & ~O_NONBLOCK));
    const timeval longest{5, 0};
    static_cast<void>(setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest));
    const std::string text = detail::reply_text(answer);
    for (std::size_t sent = 0; sent < text.size();) {
        const ssize_t put = send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return;
        sent += static_cast<std::size_t>(put);
    }
}

/// A status page over plain HTTP: GET of a few paths, read-only, one request per connection. It
/// listens on loopback by default, because it does not authenticate clients. Without threads: it
/// works when polled. POSIX sockets.
class status_page {
public:
    /// Starts to listen; port 0 chooses one. The error says what could not be done.
    [[nodiscard]] static result<status_page, std::string>
    listen(std::uint16_t port, const std::string& address = "127.0.0.1") {
        const auto failed = [&](const char* what) {
            return failure{"the status page at " + address + ":" + std::to_string(port) +
                           " cannot " + what + ": " + std::strerror(errno)};
        };
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(port);
        if (inet_pton(AF_INET, address.c_str(), &at.sin_addr) != 1)
            return failure{address +
                           " is not an IPv4 address to listen on (expected e.g. 127.0.0.1)"};
        status_page page;
        page.listener_ = descriptor(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        if (page.listener_.get() < 0)
            return failed("be opened");
        const int on = 1;
        static_cast<void>(
            setsockopt(page.listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
        if (bind(page.listener_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
            return failed("be bound");
        if (::listen(page.listener_.get(), 16) != 0)
            return failed("listen");
        socklen_t size = sizeof at;
        if (getsockname(page.listener_.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0)
            page.port_ = ntohs(at.sin_port);
        return page;
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// File descriptor to poll: readable when a client connects.
    [[nodiscard]] int handle() const noexcept { return listener_.get(); }
    /// True while a client is connected: poll again soon.
    [[nodiscard]] bool busy() const noexcept { return !guests_.empty(); }

    /// Accepts connections and answers them by `answer(const page_request&) -> page_answer`. Never
    /// blocks. If all connection slots are in use, a new connection replaces the oldest one that
    /// has not sent a whole request, so idle connections cannot block a liveness probe.
    template<class Answer>
    void poll(std::int64_t now, Answer&& answer) {
        serve(now, answer);
        for (std::size_t accepted = 0; accepted < most_accepts; ++accepted) {
            sockaddr_storage peer{};
            socklen_t size = sizeof peer;
            const int socket = accept4(listener_.get(), reinterpret_cast<sockaddr*>(&peer), &size,
                                       SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (socket < 0)
                return;
            guests_.push_back({descriptor(socket), now + longest_visit, is_loopback(peer)});
            serve(now, answer);
            if (guests_.size() > most_guests) {
                const auto silent = std::ranges::find_if(
                    guests_, [](const guest& each) { return each.reply.empty(); });
                guests_.erase(silent == guests_.end() ? guests_.begin() : silent);
            }
        }
    }

private:
    static constexpr std::size_t most_guests = 16;
    static constexpr std::size_t most_accepts = 64; ///< in one poll
    static constexpr std::size_t longest_head = 8192;
    static constexpr std::int64_t longest_visit = 5 * second;

    template<class Answer>
    void serve(std::int64_t now, Answer& answer) {
        for (guest& each : guests_) {
            if (each.reply.empty() && read(each)) {
                const page_answer made = answer_to(each, answer);
                each.gone = made.elsewhere;
                if (!made.elsewhere)
                    each.reply = detail::reply_text(made);
            }
            if (!each.reply.empty())
                write(each);
        }
        std::erase_if(guests_, [&](const guest& each) { return each.gone || now >= each.leaves; });
    }

    class descriptor {
    public:
        explicit descriptor(int number = -1) noexcept : number_(number) {}
        descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
        descriptor& operator=(descriptor&& other) noexcept {
            std::swap(number_, other.number_);
            return *this;
        }
        ~descriptor() {
            if (number_ >= 0)
                close(number_);
        }
        [[nodiscard]] int get() const noexcept { return number_; }

    private:
        int number_;
    };

    struct guest {
        descriptor socket;
        std::int64_t leaves = 0;
        bool is_local = false;
        std::string asked{};
        std::string reply{};
        std::size_t sent = 0;
        bool gone = false;
    };

    status_page() = default;

    /// True when the head of the request is there.
    static bool read(guest& from) {
        char part[2048];
        for (;;) {
            const ssize_t got = recv(from.socket.get(), part, sizeof part, 0);
            if (got > 0) {
                from.asked.append(part, static_cast<std::size_t>(got));
                if (from.asked.find("\r\n\r\n") != std::string::npos)
                    return true;
                if (from.asked.size() <= longest_head)
                    continue;
            } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
                return false;
            }
            from.gone = true;
            return false;
        }
    }

    static void write(guest& to) {
        while (to.sent < to.reply.size()) {
            const ssize_t put = send(to.socket.get(), to.reply.data() + to.sent,
                                     to.reply.size() - to.sent, MSG_NOSIGNAL);
            if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
                return;
            if (put <= 0)
                break;
            to.sent += static_cast<std::size_t>(put);
        }
        to.gone = true;
    }

    template<class Answer>
    static page_answer answer_to(const guest& client, Answer& answer) {
        const std::string_view asked = client.asked;
        const std::string_view line = asked.substr(0, asked.find("\r\n"));
        const std::size_t end = line.find(' ', 4);
        if (!line.starts_with("GET /") || end == std::string_view::npos)
            return {405, "only GET\n"};
        const std::string_view target = line.substr(4, end - 4);
        const std::size_t mark = std::min(target.find('?'), target.size());
        return answer(page_request{target.substr(0, mark),
                                   target.substr(std::min(mark + 1, target.size())),
                                   client.is_local, client.socket.get()});
    }

    descriptor listener_;
    std::uint16_t port_ = 0;
    std::vector<guest> guests_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
