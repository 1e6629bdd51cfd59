// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/credentials.hpp>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

namespace kube_credentials_test {

using namespace muster::kube;

namespace {

instant at(std::int64_t steady) {
    return {steady, 1'700'000'000 * second + steady};
}

std::string token_of(credentials& of, instant now) {
    const auto known = of.identity(now);
    return known ? known->token : "none at all";
}

/// A file that is gone afterwards.
struct file {
    std::string path = "/tmp/muster-credentials-" + std::to_string(getpid());
    ~file() { std::remove(path.c_str()); }
    void write(const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }
};

} // namespace

TEST_CASE("a token file is read again when a minute has passed, and keeps its last token") {
    const file token;
    token.write("one\n");
    connection to;
    to.token_file = token.path;
    credentials of(to);
    CHECK(token_of(of, at(0)) == "one");
    token.write("two");
    CHECK(token_of(of, at(59 * second)) == "one");
    CHECK(token_of(of, at(60 * second)) == "two");
    std::remove(token.path.c_str());
    CHECK(token_of(of, at(121 * second)) == "two");
    CHECK(of.trouble().find(token.path) == 0);
    token.write("three\n");
    CHECK(token_of(of, at(140 * second)) == "two");
    CHECK(token_of(of, at(152 * second)) == "three");
    CHECK(of.trouble().empty());
}

TEST_CASE("a refused token is looked for anew, but not in a hot loop") {
    const file token;
    token.write("one");
    connection to;
    to.token_file = token.path;
    credentials of(to);
    CHECK(token_of(of, at(0)) == "one");
    CHECK_FALSE(of.refused({"one", nullptr}, at(0)));
    token.write("two");
    CHECK_FALSE(of.refused({"one", nullptr}, at(500 * millisecond)));
    CHECK(of.refused({"one", nullptr}, at(second)));
    CHECK(token_of(of, at(second)) == "two");
    // Whoever sent the old one may simply send the new one.
    CHECK(of.refused({"one", nullptr}, at(second)));
    connection fixed;
    fixed.token = "always";
    credentials plain(fixed);
    CHECK(token_of(plain, at(0)) == "always");
    CHECK_FALSE(plain.refused({"always", nullptr}, at(0)));
}

TEST_CASE("what is no token is never sent") {
    const file token;
    connection to;
    to.token_file = token.path;
    for (const char* text : {"", "\n", "a\r\nX-Evil: b"}) {
        token.write(text);
        credentials of(to);
        CHECK_FALSE(of.identity(at(0)));
        CHECK_FALSE(of.trouble().empty());
    }
}

TEST_CASE("a plugin runs again shortly before its token ends, and rarely when it fails") {
    const file count;
    connection to;
    to.plugin.emplace();
    to.plugin->command = "/bin/sh";
    // It ends ten minutes after the time that the first case begins with.
    to.plugin->arguments = {"-c", "echo x >>" + count.path +
                                      R"(; echo '{"kind":"ExecCredential","status":{"token":"t",)"
                                      R"("expirationTimestamp":"2023-11-14T22:23:20Z"}}')"};
    const auto runs = [&] {
        std::ifstream in(count.path);
        std::string line;
        int lines = 0;
        while (std::getline(in, line))
            ++lines;
        return lines;
    };
    credentials of(to);
    CHECK(token_of(of, at(0)) == "t");
    CHECK(token_of(of, at(9 * minute)) == "t");
    CHECK(runs() == 1);
    CHECK(token_of(of, at(9 * minute + 50 * second)) == "t");
    CHECK(runs() == 2);
    to.plugin->arguments = {"-c", "echo x >>" + count.path + "; exit 1"};
    credentials failing(to);
    for (std::int64_t now = 0; now < minute; now += second)
        CHECK_FALSE(failing.identity(at(now)));
    CHECK(runs() == 4);
}

TEST_CASE("a plugin may print a client certificate, without a token, and another one later") {
    const file count;
    connection to;
    to.plugin.emplace();
    to.plugin->command = "/bin/sh";
    to.plugin->arguments = {
        "-c", "echo x >>" + count.path + "; n=$(wc -l <" + count.path + ")" +
                  R"(; echo '{"kind":"ExecCredential","status":{"clientCertificateData":)"
                  R"("-----BEGIN C-----'$n'","clientKeyData":"-----BEGIN K-----'$n'",)"
                  R"("expirationTimestamp":"2023-11-14T22:23:20Z"}}')"};
    credentials of(to);
    const auto first = of.identity(at(0));
    REQUIRE(first);
    CHECK(first->token.empty());
    REQUIRE(first->certificate_and_key);
    CHECK(first->certificate_and_key->first == "-----BEGIN C-----1");
    CHECK(first->certificate_and_key->second == "-----BEGIN K-----1");
    CHECK(of.identity(at(9 * minute)) == first);
    const auto second_one = of.identity(at(9 * minute + 50 * second));
    REQUIRE(second_one);
    CHECK(second_one->certificate_and_key->first == "-----BEGIN C-----2");
    CHECK(of.refused(*first, at(9 * minute + 51 * second)));
}

} // namespace kube_credentials_test
