// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/transport.hpp>

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tls_server.hpp"

namespace kube_transport_test {

using namespace muster::kube;
using muster_test::certificate_wish;
using muster_test::identity;
using muster_test::make_identity;
using muster_test::tls_server;

namespace {

std::string ok(const std::string& body) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

struct world {
    identity authority = make_identity({});
    identity server = make_identity({"DNS:localhost,IP:127.0.0.1", 3600, &authority});

    connection to(const tls_server& at) const {
        connection made;
        made.server = at.url();
        made.authority.pem = authority.certificate_pem;
        return made;
    }
};

const world& shared() {
    static const world made;
    return made;
}

http_request get(const std::string& path = "/api") {
    http_request made;
    made.path = path;
    made.patience = 20 * second;
    return made;
}

/// The answer to one request.
http_answer ask(transport& by, http_request what) {
    const std::uint64_t number = by.start(std::move(what));
    for (int turns = 0; turns < 1000; ++turns)
        for (arrival& each : by.poll(second))
            if (each.of == number && !each.is_part)
                return std::move(each.answer);
    FAIL("no answer");
    return {};
}

http_answer ask(connection to, http_request what = get(), transport_options how = {}) {
    auto by = transport::open(std::move(to), how);
    REQUIRE(by);
    return ask(**by, std::move(what));
}

/// A file that is gone afterwards.
class temporary_file {
public:
    explicit temporary_file(const std::string& text)
        : path_("/tmp/muster-test-" + std::to_string(getpid()) + "-" + std::to_string(++count)) {
        write(text);
    }
    ~temporary_file() { std::remove(path_.c_str()); }
    void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    inline static int count = 0;
    std::string path_;
};

} // namespace

TEST_CASE("requests go out as they are, and connections are used again") {
    std::vector<std::string> asked;
    tls_server server({&shared().server}, [&](const std::string& request) {
        asked.push_back(request);
        return ok("hello");
    });
    connection to = shared().to(server);
    to.server += "/cluster/";
    to.server.pop_back();
    to.token = "s3cret";
    auto by = transport::open(to);
    REQUIRE(by);
    http_request what = get("/api/v1/pods");
    what.query = "limit=5";
    http_answer answer = ask(**by, what);
    CHECK(answer.is_success());
    CHECK(answer.status == 200);
    CHECK(answer.body == "hello");
    what.method = http_method::patch;
    what.body = "{\"a\":1}";
    what.content_type = merge_patch_type;
    CHECK(ask(**by, what).is_success());
    what.method = http_method::post;
    CHECK(ask(**by, what).is_success());
    CHECK(ask(**by, get()).is_success());
    REQUIRE(asked.size() == 4);
    CHECK(asked[0].starts_with("GET /cluster/api/v1/pods?limit=5 HTTP/1.1\r\n"));
    CHECK(asked[0].find("Authorization: Bearer s3cret\r\n") != std::string::npos);
    CHECK(asked[0].find("Content-Type") == std::string::npos);
    CHECK(asked[1].starts_with("PATCH "));
    CHECK(asked[1].find("Content-Type: application/merge-patch+json\r\n") != std::string::npos);
    CHECK(asked[1].ends_with("\r\n\r\n{\"a\":1}"));
    CHECK(asked[2].starts_with("POST "));
    CHECK(asked[3].starts_with("GET /cluster/api HTTP/1.1\r\n"));
    CHECK(server.connections() == 1);
}

TEST_CASE("a server that nobody vouches for, of another name, or out of date is not spoken to") {
    const world& all = shared();
    const identity other_name = make_identity({"DNS:elsewhere,IP:10.0.0.1", 3600, &all.authority});
    const identity expired = make_identity({"IP:127.0.0.1", -3600, &all.authority});
    const identity by_name_only = make_identity({"DNS:localhost", 3600, &all.authority});
    const identity stranger = make_identity({});
    const identity unvouched = make_identity({"IP:127.0.0.1", 3600, &stranger});
    bool spoken = false;
    for (const identity* who : {&other_name, &expired, &by_name_only, &unvouched}) {
        tls_server server({who}, [&](const std::string&) {
            spoken = true;
            return ok("");
        });
        connection to = all.to(server);
        to.token = "s3cret";
        const http_answer answer = ask(to);
        CHECK(answer.fault == http_fault::not_sent);
        CHECK(answer.status == 0);
        CHECK(answer.what.find("GET /api: ") == 0);
        CHECK(answer.what.find("s3cret") == std::string::npos);
    }
    CHECK_FALSE(spoken);
    tls_server server({&by_name_only}, [](const std::string&) { return ok(""); });
    connection to = all.to(server);
    to.server = server.url("localhost");
    CHECK(ask(to).is_success());
}

TEST_CASE("TLS 1.1 is refused, 1.2 is not") {
    for (const int version : {TLS1_1_VERSION, TLS1_2_VERSION}) {
        tls_server server({&shared().server, nullptr, version},
                          [](const std::string&) { return ok(""); });
        CHECK(ask(shared().to(server)).is_success() == (version == TLS1_2_VERSION));
    }
}

TEST_CASE("tls-server-name is the name that is checked, and the server is still found") {
    const identity named = make_identity({"DNS:kubernetes", 3600, &shared().authority});
    std::string asked;
    tls_server server({&named}, [&](const std::string& request) {
        asked = request;
        return ok("");
    });
    connection to = shared().to(server);
    CHECK_FALSE(ask(to).is_success());
    to.tls_server_name = "kubernetes";
    CHECK(ask(to).is_success());
    CHECK(asked.find("Host: 127.0.0.1:") != std::string::npos);
}

TEST_CASE("a client shows its certificate, from memory or from files") {
    const identity client = make_identity({"DNS:muster", 3600, &shared().authority});
    tls_server server({&shared().server, &shared().authority},
                      [](const std::string&) { return ok("in"); });
    connection to = shared().to(server);
    CHECK_FALSE(ask(to).is_success());
    to.certificate.pem = client.certificate_pem;
    to.key.pem = client.key_pem;
    CHECK(ask(to).body == "in");
    const temporary_file certificate(client.certificate_pem);
    const temporary_file key(client.key_pem);
    const temporary_file authority(shared().authority.certificate_pem);
    to.certificate = {certificate.path(), {}};
    to.key = {key.path(), {}};
    to.authority = {authority.path(), {}};
    CHECK(ask(to).body == "in");
}

TEST_CASE("a client uses the certificate that a plugin prints, and later the next one") {
    const identity client = make_identity({"DNS:muster", 3600, &shared().authority});
    const identity next = make_identity({"DNS:muster", 3600, &shared().authority});
    tls_server server({&shared().server, &shared().authority},
                      [](const std::string&) { return ok("in"); });
    const auto escaped = [](std::string pem) {
        for (std::size_t at = 0; (at = pem.find('\n', at)) != std::string::npos; at += 2)
            pem.replace(at, 1, "\\n");
        return pem;
    };
    const auto printed = [&](const identity& of) {
        return R"({"kind":"ExecCredential","status":{"clientCertificateData":")" +
               escaped(of.certificate_pem) + R"(","clientKeyData":")" + escaped(of.key_pem) +
               // Already expired, so each request runs the plugin again.
               R"(","expirationTimestamp":"2020-01-01T00:00:00Z"}})";
    };
    const temporary_file output(printed(client));
    connection to = shared().to(server);
    to.plugin.emplace();
    to.plugin->command = "/bin/cat";
    to.plugin->arguments = {output.path()};
    CHECK(ask(to).body == "in");
    // A certificate that the server's authority did not sign is sent as well, and rejected.
    output.write(printed(make_identity({"DNS:muster"})));
    CHECK_FALSE(ask(to).is_success());
    output.write(printed(next));
    CHECK(ask(to).body == "in");
}

TEST_CASE("requests impersonate the identity in the connection") {
    std::string got;
    tls_server server({&shared().server}, [&](const std::string& request) {
        got = request;
        return ok("in");
    });
    connection to = shared().to(server);
    to.as = {"jane", "u1", {"system:masters", "dev"}, {{"acme.com/Project", {"a", "b"}}}};
    CHECK(ask(to).is_success());
    for (const std::string line :
         {"Impersonate-User: jane\r\n", "Impersonate-Uid: u1\r\n",
          "Impersonate-Group: system:masters\r\n", "Impersonate-Group: dev\r\n",
          "Impersonate-Extra-acme.com%2FProject: a\r\n",
          "Impersonate-Extra-acme.com%2FProject: b\r\n"}) {
        CAPTURE(line);
        CHECK(got.find(line) != std::string::npos);
    }
    to.as.user.clear();
    CHECK(transport::open(to).error().find("without a user") != std::string::npos);
}

TEST_CASE("an answer that is cut off is no answer, whatever had come") {
    const std::string hang_up(1, '\0');
    for (const std::string& said :
         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n" + hang_up,
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhel" + hang_up,
          "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello" + hang_up,
          "HTTP/1.1 200 OK\r\n\r\nhello" + hang_up, "HTTP/1.1 200" + hang_up,
          "garbage\r\n\r\n" + hang_up, std::string()}) {
        CAPTURE(said);
        tls_server server({&shared().server}, [&](const std::string&) { return said; });
        const http_answer answer = ask(shared().to(server));
        CHECK(answer.fault == http_fault::no_answer);
        CHECK_FALSE(answer.is_success());
        CHECK_FALSE(answer.what.empty());
    }
    // Plain HTTP has no other way to tell.
    tls_server plain({},
                     [&](const std::string&) { return "HTTP/1.1 200 OK\r\n\r\nhello" + hang_up; });
    CHECK(ask(plain_connection(plain.url()).value()).fault == http_fault::no_answer);
}

TEST_CASE("answers beyond the limits are given up") {
    transport_options how;
    how.longest_body = 1000;
    how.longest_head = 2000;
    tls_server large({&shared().server}, [](const std::string& request) {
        return request.starts_with("GET /fits") ? ok(std::string(1000, 'x'))
                                                : ok(std::string(1001, 'x'));
    });
    CHECK(ask(shared().to(large), get("/fits"), how).is_success());
    CHECK(ask(shared().to(large), get("/not"), how).fault == http_fault::too_large);
    tls_server heady({&shared().server}, [](const std::string&) {
        return "HTTP/1.1 200 OK\r\nX: " + std::string(3000, 'x') + "\r\nContent-Length: 0\r\n\r\n";
    });
    CHECK(ask(shared().to(heady), get(), how).fault == http_fault::too_large);
}

TEST_CASE("a token file is read again when the server does not take its token, once") {
    const temporary_file file("old\n");
    int refused = 0;
    tls_server server({&shared().server}, [&](const std::string& request) {
        if (request.find("Bearer new\r\n") != std::string::npos)
            return ok("in");
        ++refused;
        file.write("new\n");
        return std::string("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    });
    connection to = shared().to(server);
    to.token_file = file.path();
    CHECK(ask(to).body == "in");
    CHECK(refused == 1);
    // A write is not sent again by itself, but the next one has the new token.
    file.write("old");
    auto by = transport::open(to);
    REQUIRE(by);
    http_request write = get();
    write.method = http_method::post;
    CHECK(ask(**by, write).status == 401);
    CHECK(ask(**by, write).body == "in");
    CHECK(refused == 2);
    // Where nothing new is to be read, 401 is the answer.
    tls_server strict({&shared().server}, [&](const std::string&) {
        ++refused;
        return std::string("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    });
    to.server = strict.url();
    refused = 0;
    CHECK(ask(to).status == 401);
    CHECK(refused == 1);
}

TEST_CASE("without its token nothing is sent") {
    bool spoken = false;
    tls_server server({&shared().server}, [&](const std::string&) {
        spoken = true;
        return ok("");
    });
    connection to = shared().to(server);
    to.token_file = "/nowhere/token";
    const http_answer answer = ask(to);
    CHECK(answer.fault == http_fault::not_sent);
    CHECK(answer.what.find("/nowhere/token") != std::string::npos);
    CHECK_FALSE(spoken);
}

TEST_CASE("a stream comes in parts, and what is no stream comes whole") {
    tls_server server({&shared().server}, [](const std::string& request) -> std::string {
        if (request.starts_with("GET /gone"))
            return "HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngone";
        return "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
               "chunked\r\n\r\n3\r\nab\n\r\n3\r\ncd\n\r\n0\r\n\r\n";
    });
    auto by = transport::open(shared().to(server));
    REQUIRE(by);
    http_request what = get();
    what.stream = true;
    const std::uint64_t number = (*by)->start(what);
    std::string parts;
    bool ended = false;
    while (!ended)
        for (const arrival& each : (*by)->poll(10 * second)) {
            CHECK(each.of == number);
            if (each.is_part) {
                parts += each.part;
                continue;
            }
            ended = true;
            CHECK(each.answer.is_success());
            CHECK(each.answer.body.empty());
        }
    CHECK(parts == "ab\ncd\n");
    what.path = "/gone";
    const http_answer answer = ask(**by, what);
    CHECK(answer.status == 410);
    CHECK(answer.body == "gone");
}

TEST_CASE("who does not answer is not waited for, and what is cancelled is forgotten") {
    tls_server server({&shared().server}, [](const std::string&) {
        return std::string("HTTP/1.1 100 Continue\r\n\r\n");
    });
    auto by = transport::open(shared().to(server));
    REQUIRE(by);
    http_request what = get();
    what.patience = 50 * millisecond;
    CHECK(ask(**by, what).fault == http_fault::no_answer);
    const std::uint64_t number = (*by)->start(what);
    (*by)->cancel(number);
    CHECK((*by)->under_way() == 0);
    CHECK((*by)->poll(0).empty());
    // Nobody listens: nothing was sent.
    connection to = shared().to(server);
    to.server = "https://127.0.0.1:1";
    CHECK(ask(to).fault == http_fault::not_sent);
}

TEST_CASE("a wait that the server asks for is told") {
    tls_server server({&shared().server}, [](const std::string& request) {
        return std::string("HTTP/1.1 429 Too Many Requests\r\nRETRY-AFTER:  ") +
               (request.starts_with("GET /odd") ? "soon" : "7") + "\r\nContent-Length: 0\r\n\r\n";
    });
    CHECK(ask(shared().to(server)).retry_after == 7 * second);
    CHECK_FALSE(ask(shared().to(server), get("/odd")).retry_after);
}

TEST_CASE("credentials are never sent in the clear") {
    connection to;
    to.server = "http://127.0.0.1:8001";
    CHECK(refuse(to).empty());
    to.token = "s3cret";
    CHECK_FALSE(transport::open(to));
    CHECK(transport::open(to).error().find("s3cret") == std::string::npos);
    CHECK_FALSE(plain_connection("http://10.0.0.1:8001"));
    CHECK_FALSE(plain_connection("ftp://127.0.0.1"));
    CHECK_FALSE(plain_connection("https://user:pass@host"));
    CHECK(plain_connection("http://127.0.0.1:8001/"));
}

} // namespace kube_transport_test
