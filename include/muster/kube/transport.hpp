// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <curl/curl.h>

#include <muster/base/assert.hpp>
#include <muster/base/result.hpp>
#include <muster/kube/answer_head.hpp>
#include <muster/kube/clock.hpp>
#include <muster/kube/connection.hpp>
#include <muster/kube/credentials.hpp>
#include <muster/kube/http.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

struct transport_options {
    std::int64_t connect_patience = 10 * second;
    std::size_t longest_head = 64U << 10U;
    std::size_t longest_body = 256U << 20U;
    /// Open at once, those of streams among them; requests beyond wait for one.
    long connections = 64;
    std::string user_agent = "muster";
};

/// Something that came in for the request with that number.
struct arrival {
    std::uint64_t of = 0;
    /// Of a stream that goes on: what came; nothing when it has just begun. Otherwise the request
    /// has ended with `answer`.
    bool is_part = false;
    std::string part;
    http_answer answer;
};

namespace detail {

struct curl_closer {
    void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
    void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};

/// curl's CURL and CURLM are both void.
struct multi_closer {
    void operator()(CURLM* handle) const noexcept { curl_multi_cleanup(handle); }
};

using curl_list = std::unique_ptr<curl_slist, curl_closer>;

} // namespace detail

/// Carries requests to an API server by libcurl: HTTP/1.1 over TLS 1.2 or newer, with a pool of
/// connections. The server's certificate must be signed by the connection's authority and name the
/// server, by DNS name or IP address. No redirects, no proxies but the connection's own, no
/// cookies. Credentials appear in no text that it makes. One thread, nothing happens but in poll().
class transport {
public:
    [[nodiscard]] static result<std::unique_ptr<transport>, std::string>
    open(connection to, transport_options how = {}) {
        if (std::string wrong = refuse(to); !wrong.empty())
            return failure{std::move(wrong)};
        if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
            return failure{std::string("libcurl cannot be started")};
        std::unique_ptr<transport> made(new transport(std::move(to), std::move(how)));
        if (!made->multi_)
            return failure{std::string("libcurl cannot be started")};
        return made;
    }

    transport(const transport&) = delete;
    transport& operator=(const transport&) = delete;
    ~transport() {
        for (auto& [number, each] : under_way_)
            curl_multi_remove_handle(multi_.get(), each->handle.get());
    }

    /// Begins a request; what becomes of it comes out of poll() under the number.
    std::uint64_t start(http_request what) {
        const std::uint64_t number = ++last_number_;
        begin(number, take_transfer(), std::move(what), false);
        return number;
    }

    /// Forgets a request; nothing comes of it any more. Whether it was carried out is not known.
    void cancel(std::uint64_t number) {
        const auto at = under_way_.find(number);
        if (at != under_way_.end()) {
            release(std::move(at->second));
            under_way_.erase(at);
        }
        std::erase_if(arrived_, [&](const arrival& each) { return each.of == number; });
    }

    [[nodiscard]] std::size_t under_way() const noexcept { return under_way_.size(); }

    /// What came in since; waits for at most `patience` when there is nothing yet. `others` are
    /// handles to wait on as well: it returns when one of them is readable.
    [[nodiscard]] std::vector<arrival> poll(std::int64_t patience,
                                            std::span<const int> others = {}) {
        work();
        if (arrived_.empty() && patience > 0) {
            std::vector<curl_waitfd> waits;
            for (const int handle : others)
                waits.push_back({handle, CURL_WAIT_POLLIN, 0});
            const std::int64_t longest = std::min(patience, stream_patience());
            const auto span = static_cast<int>(
                std::clamp<std::int64_t>((longest + millisecond - 1) / millisecond, 0, 60'000));
            curl_multi_poll(multi_.get(), waits.data(), static_cast<unsigned>(waits.size()), span,
                            nullptr);
            work();
        }
        return std::exchange(arrived_, {});
    }

    [[nodiscard]] instant now() const { return read_clock(); }
    [[nodiscard]] const connection& to() const noexcept { return to_; }

private:
    struct transfer {
        std::unique_ptr<CURL, detail::curl_closer> handle;
        transport* owner = nullptr;
        std::uint64_t number = 0;
        http_request request;
        request_identity identity; ///< credentials of the request
        bool is_retry = false;
        detail::curl_list head_lines;
        detail::answer_head head;
        std::string body;
        bool too_large = false;
        bool begun = false; ///< an answer has begun
        std::int64_t begins_by = 0;
        std::array<char, CURL_ERROR_SIZE> error{};

        [[nodiscard]] int status() const {
            long code = 0;
            curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &code);
            return static_cast<int>(code);
        }
    };

    transport(connection to, transport_options how)
        : to_(std::move(to)),
          how_(std::move(how)),
          url_(parse_server(to_.server).value()),
          credentials_(to_),
          multi_(curl_multi_init()) {
        if (!multi_)
            return;
        curl_multi_setopt(multi_.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS, how_.connections);
        curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, how_.connections);
        const bool is_ipv6 = url_.host.find(':') != std::string::npos;
        authority_ = (is_ipv6 ? "[" + url_.host + "]" : url_.host) + ":" + url_.port;
        std::string named = authority_;
        if (!to_.tls_server_name.empty()) {
            // The name stands in the URL, where it is sent as SNI and checked; the connection goes
            // to the server all the same.
            named = to_.tls_server_name + ":" + url_.port;
            connect_to_.reset(curl_slist_append(nullptr, ("::" + authority_).c_str()));
        }
        base_ = (url_.tls ? "https://" : "http://") + named + url_.prefix;
    }

    std::unique_ptr<transfer> take_transfer() {
        if (!idle_.empty()) {
            auto made = std::move(idle_.back());
            idle_.pop_back();
            return made;
        }
        auto made = std::make_unique<transfer>();
        made->owner = this;
        made->handle.reset(curl_easy_init());
        if (made->handle)
            set_up(*made);
        return made;
    }

    template<class Value>
    static void set(transfer& on, CURLoption option, Value value) {
        const CURLcode taken = curl_easy_setopt(on.handle.get(), option, value);
        MUSTER_ASSERT(taken == CURLE_OK, "this libcurl knows the options that are used");
        static_cast<void>(taken);
    }

    static void set_pem(transfer& on, const pem_source& from, CURLoption file, CURLoption blob) {
        if (!from.file.empty()) {
            set(on, file, from.file.c_str());
        } else if (!from.pem.empty()) {
            curl_blob bytes{const_cast<char*>(from.pem.data()), from.pem.size(), CURL_BLOB_NOCOPY};
            set(on, blob, &bytes);
        }
    }

    /// What is the same for all requests.
    void set_up(transfer& on) {
        // Not CURLOPT_NOSIGNAL: a connection that the server closed must not end the process by
        // SIGPIPE, and without it libcurl sees to that.
        set(on, CURLOPT_ERRORBUFFER, on.error.data());
        set(on, CURLOPT_PRIVATE, &on);
        set(on, CURLOPT_PROTOCOLS_STR, url_.tls ? "https" : "http");
        set(on, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
        set(on, CURLOPT_PROXY, to_.proxy.c_str());
        set(on, CURLOPT_USERAGENT, how_.user_agent.c_str());
        set(on, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(how_.connect_patience / millisecond));
        set(on, CURLOPT_TCP_KEEPALIVE, 1L);
        set(on, CURLOPT_TCP_KEEPIDLE, 30L);
        set(on, CURLOPT_TCP_KEEPINTVL, 10L);
        if (connect_to_)
            set(on, CURLOPT_CONNECT_TO, connect_to_.get());
        set(on, CURLOPT_HEADERFUNCTION, &transport::take_head);
        set(on, CURLOPT_HEADERDATA, &on);
        set(on, CURLOPT_WRITEFUNCTION, &transport::take_body);
        set(on, CURLOPT_WRITEDATA, &on);
        if (!url_.tls)
            return;
        set(on, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
        set(on, CURLOPT_SSL_VERIFYPEER, to_.verifies ? 1L : 0L);
        set(on, CURLOPT_SSL_VERIFYHOST, to_.verifies ? 2L : 0L);
        set(on, CURLOPT_CA_CACHE_TIMEOUT, 60L);
        if (to_.authority.is_there()) {
            // The system's authorities have no say beside the cluster's own.
            set(on, CURLOPT_CAPATH, static_cast<char*>(nullptr));
            set(on, CURLOPT_CAINFO, static_cast<char*>(nullptr));
            set_pem(on, to_.authority, CURLOPT_CAINFO, CURLOPT_CAINFO_BLOB);
        }
        set_pem(on, to_.certificate, CURLOPT_SSLCERT, CURLOPT_SSLCERT_BLOB);
        set_pem(on, to_.key, CURLOPT_SSLKEY, CURLOPT_SSLKEY_BLOB);
    }

    void begin(std::uint64_t number, std::unique_ptr<transfer> of, http_request what,
               bool is_retry) {
        transfer& made = *of;
        const instant now = read_clock();
        made.number = number;
        made.request = std::move(what);
        made.is_retry = is_retry;
        made.head = {};
        made.body.clear();
        made.too_large = false;
        made.begun = false;
        made.begins_by = made.request.stream ? now.steady + made.request.patience : never_comes;
        made.error.front() = '\0';
        under_way_.insert_or_assign(number, std::move(of));
        if (!made.handle)
            return fail(made, http_fault::not_sent, "libcurl gives no handle");
        auto identity = credentials_.identity(now);
        if (!identity)
            return fail(made, http_fault::not_sent, credentials_.trouble());
        made.identity = std::move(*identity);
        show_certificate(made);
        set_request(made);
        if (curl_multi_add_handle(multi_.get(), made.handle.get()) != CURLM_OK)
            fail(made, http_fault::not_sent, "libcurl does not take the request");
    }

    /// Sets the certificate of a credential plugin, which changes over time. libcurl compares
    /// certificates when it picks a pooled connection, so one with an older certificate is not
    /// reused.
    void show_certificate(transfer& made) {
        const auto& shown = made.identity.certificate_and_key;
        if (!url_.tls || !to_.plugin)
            return;
        if (!shown) {
            set(made, CURLOPT_SSLCERT_BLOB, static_cast<curl_blob*>(nullptr));
            set(made, CURLOPT_SSLKEY_BLOB, static_cast<curl_blob*>(nullptr));
            set_pem(made, to_.certificate, CURLOPT_SSLCERT, CURLOPT_SSLCERT_BLOB);
            set_pem(made, to_.key, CURLOPT_SSLKEY, CURLOPT_SSLKEY_BLOB);
            return;
        }
        for (const auto& [pem, option] : {std::pair{&shown->first, CURLOPT_SSLCERT_BLOB},
                                          {&shown->second, CURLOPT_SSLKEY_BLOB}}) {
            curl_blob bytes{const_cast<char*>(pem->data()), pem->size(), CURL_BLOB_COPY};
            set(made, option, &bytes);
        }
    }

    void set_request(transfer& made) {
        const http_request& what = made.request;
        std::string url = base_ + what.path;
        if (!what.query.empty())
            url += "?" + what.query;
        set(made, CURLOPT_URL, url.c_str());
        std::vector<std::string> lines{"Accept: application/json", "Expect:"};
        if (connect_to_)
            lines.push_back("Host: " + authority_);
        if (!made.identity.token.empty())
            lines.push_back("Authorization: Bearer " + made.identity.token);
        for (std::string& line : impersonation_lines(to_.as))
            lines.push_back(std::move(line));
        if (!what.content_type.empty())
            lines.push_back("Content-Type: " + what.content_type);
        curl_slist* list = nullptr;
        for (const std::string& line : lines)
            list = curl_slist_append(list, line.c_str());
        set(made, CURLOPT_HTTPHEADER, list);
        made.head_lines.reset(list);
        if (what.method == http_method::get) {
            set(made, CURLOPT_CUSTOMREQUEST, static_cast<char*>(nullptr));
            set(made, CURLOPT_HTTPGET, 1L);
        } else {
            set(made, CURLOPT_POST, 1L);
            set(made, CURLOPT_CUSTOMREQUEST, to_text(what.method).data());
            set(made, CURLOPT_POSTFIELDS, what.body.data());
            set(made, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(what.body.size()));
        }
        set(made, CURLOPT_TIMEOUT_MS,
            what.stream
                ? 0L
                : static_cast<long>(std::max(what.patience / millisecond, std::int64_t{1})));
    }

    static std::size_t take_head(char* data, std::size_t size, std::size_t count, void* to) {
        transfer& of = *static_cast<transfer*>(to);
        const std::string_view line(data, size * count);
        of.head.take(line);
        if (line == "\r\n" && of.request.stream && of.status() == 200)
            of.owner->arrived_.push_back({of.number, true, {}, {}});
        if (of.head.size <= of.owner->how_.longest_head)
            return size * count;
        of.too_large = true;
        return 0;
    }

    static std::size_t take_body(char* data, std::size_t size, std::size_t count, void* to) {
        transfer& of = *static_cast<transfer*>(to);
        const std::string_view part(data, size * count);
        of.begun = true;
        if (of.request.stream && of.status() == 200) {
            auto& arrived = of.owner->arrived_;
            if (arrived.empty() || arrived.back().of != of.number)
                arrived.push_back({of.number, true, {}, {}});
            arrived.back().part += part;
            return part.size();
        }
        if (of.body.size() + part.size() > of.owner->how_.longest_body) {
            of.too_large = true;
            return 0;
        }
        of.body += part;
        return part.size();
    }

    void work() {
        int running = 0;
        curl_multi_perform(multi_.get(), &running);
        int left = 0;
        while (const CURLMsg* const said = curl_multi_info_read(multi_.get(), &left)) {
            if (said->msg != CURLMSG_DONE)
                continue;
            const CURLcode ended = said->data.result;
            char* at = nullptr;
            curl_easy_getinfo(said->easy_handle, CURLINFO_PRIVATE, &at);
            end(*reinterpret_cast<transfer*>(at), ended);
        }
        const std::int64_t now = read_clock().steady;
        for (auto at = under_way_.begin(); at != under_way_.end();) {
            transfer& each = *(at++)->second;
            if (each.request.stream && !has_begun(each) && now >= each.begins_by)
                fail(each, http_fault::no_answer, "no answer in time");
        }
    }

    static bool has_begun(transfer& of) { return of.begun || of.head.size > 0; }

    [[nodiscard]] std::int64_t stream_patience() {
        std::int64_t first = never_comes;
        for (const auto& [number, each] : under_way_)
            if (each->request.stream && !has_begun(*each))
                first = std::min(first, each->begins_by);
        return first == never_comes ? never_comes
                                    : std::max<std::int64_t>(first - read_clock().steady, 0);
    }

    void end(transfer& of, CURLcode with) {
        if (with == CURLE_OK) {
            const int status = of.status();
            // Only the caller may repeat a write, because it knows whether the write is still
            // valid.
            if (status == 401 && !of.is_retry && credentials_.refused(of.identity, read_clock()) &&
                of.request.method == http_method::get)
                return again(of);
            const bool has_body = status != 204 && status != 304;
            if (has_body && !of.head.marks_end)
                return fail(of, http_fault::no_answer, "the answer does not say where it ends");
            http_answer answer{
                status, std::move(of.body), of.head.retry_after, http_fault::none, {}};
            return finish(of, std::move(answer));
        }
        if (of.too_large)
            return fail(of, http_fault::too_large, "the answer is too large");
        // If the server rejects a plugin's certificate, the connection fails without a 401.
        if (of.identity.certificate_and_key && !was_sent(of, with))
            static_cast<void>(credentials_.refused(of.identity, read_clock()));
        fail(of, was_sent(of, with) ? http_fault::no_answer : http_fault::not_sent,
             of.error.front() != '\0' ? of.error.data() : curl_easy_strerror(with));
    }

    static bool was_sent(const transfer& of, CURLcode with) {
        switch (with) {
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY:
        case CURLE_COULDNT_CONNECT:
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_CIPHER:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_URL_MALFORMAT:
            return false;
        default:
            break;
        }
        // A connection that was never ready carried nothing.
        curl_off_t ready = 0;
        curl_easy_getinfo(of.handle.get(), CURLINFO_PRETRANSFER_TIME_T, &ready);
        return with != CURLE_OPERATION_TIMEDOUT || ready > 0;
    }

    void again(transfer& of) {
        const std::uint64_t number = of.number;
        auto node = under_way_.extract(number);
        std::unique_ptr<transfer> kept = std::move(node.mapped());
        curl_multi_remove_handle(multi_.get(), kept->handle.get());
        http_request what = std::move(kept->request);
        begin(number, std::move(kept), std::move(what), true);
    }

    void fail(transfer& of, http_fault how, std::string_view why) {
        http_answer answer;
        answer.status = of.handle && has_begun(of) ? of.status() : 0;
        answer.fault = how;
        answer.what = std::string(to_text(of.request.method)) + " " + of.request.path + ": ";
        answer.what += why;
        finish(of, std::move(answer));
    }

    void finish(transfer& of, http_answer answer) {
        const auto at = under_way_.find(of.number);
        arrived_.push_back({of.number, false, {}, std::move(answer)});
        std::unique_ptr<transfer> kept = std::move(at->second);
        under_way_.erase(at);
        release(std::move(kept));
    }

    void release(std::unique_ptr<transfer> of) {
        if (!of->handle)
            return;
        curl_multi_remove_handle(multi_.get(), of->handle.get());
        of->request = {};
        of->body = {};
        idle_.push_back(std::move(of));
    }

    connection to_;
    transport_options how_;
    server_url url_;
    credentials credentials_;
    std::string authority_;
    std::string base_;
    detail::curl_list connect_to_;
    std::unique_ptr<CURLM, detail::multi_closer> multi_;
    std::uint64_t last_number_ = 0;
    std::map<std::uint64_t, std::unique_ptr<transfer>> under_way_;
    std::vector<std::unique_ptr<transfer>> idle_;
    std::vector<arrival> arrived_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
