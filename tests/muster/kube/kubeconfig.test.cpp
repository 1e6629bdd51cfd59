// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/kubeconfig.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/kube/exec_credential.hpp>

namespace kube_kubeconfig_test {

using namespace muster::kube;
using namespace muster;

namespace {

/// "-----BEGIN X-----" in base64.
const std::string pem = "LS0tLS1CRUdJTiBYLS0tLS0=";

std::string config(const std::string& cluster, const std::string& user) {
    return R"(apiVersion: v1
kind: Config
current-context: here
contexts:
- name: other
  context: {cluster: none, user: nobody}
- name: here
  context: {cluster: c, user: u, namespace: team}
clusters:
- name: c
  cluster:
)" + cluster +
           R"(users:
- name: u
  user:
)" + user;
}

struct outcome {
    std::optional<connection> made;
    std::string errors;
};

outcome read(const std::vector<std::string>& texts, const kubeconfig_options& how = {}) {
    codec::diagnostics found;
    std::vector<codec::document> files;
    for (std::size_t at = 0; at < texts.size(); ++at)
        for (auto& each :
             codec::read_documents("/etc/k/config" + std::to_string(at), texts[at], found))
            files.push_back(std::move(each));
    outcome of{read_kubeconfig(files, how, found), {}};
    for (const auto& each : found.findings())
        of.errors += to_text(each) + "\n";
    CHECK(found.ok() == of.made.has_value());
    return of;
}

} // namespace

TEST_CASE("a context leads to a server and to who to be there") {
    const auto of = read({config("    server: https://10.0.0.1:6443/\n"
                                 "    tls-server-name: kubernetes\n"
                                 "    certificate-authority-data: " +
                                     pem + "\n",
                                 "    client-certificate-data: " + pem +
                                     "\n"
                                     "    client-key-data: " +
                                     pem + "\n")});
    CHECK(of.errors.empty());
    REQUIRE(of.made);
    CHECK(of.made->server == "https://10.0.0.1:6443");
    CHECK(of.made->tls_server_name == "kubernetes");
    CHECK(of.made->authority.pem == "-----BEGIN X-----");
    CHECK(of.made->certificate.pem == of.made->key.pem);
    CHECK(of.made->name_space == "team");
    CHECK(of.made->verifies);
}

TEST_CASE("files are relative to the kubeconfig, and tokens are taken") {
    const auto of = read({config("    server: https://h\n", "    tokenFile: t/token\n")});
    REQUIRE(of.made);
    CHECK(of.made->token_file == "/etc/k/t/token");
    CHECK(read({config("    server: https://h\n", "    token: abc\n")}).made->token == "abc");
}

TEST_CASE("what is wrong is told with its place") {
    CHECK(read({config("    server: 10.0.0.1\n", "    token: a\n")}).errors ==
          "/etc/k/config0:12:13: clusters[0].cluster.server: \"10.0.0.1\" is no URL of a server "
          "(expected e.g. https://host:6443)\n");
    CHECK(read({config("    server: https://h\n    certificate-authority-data: '*'\n",
                       "    token: a\n")})
              .errors == "/etc/k/config0:13:33: clusters[0].cluster.certificate-authority-data: is "
                         "not PEM in base64\n");
    CHECK(read({config("    server: https://h\n    certificate-authority: ca.crt\n",
                       "    token: a\n")})
              .errors.find("\"/etc/k/ca.crt\" cannot be read") != std::string::npos);
    CHECK(read({config("    server: https://h\n", "    token: [1]\n")})
              .errors.find("users[0].user.token: found a list, expected a string") !=
          std::string::npos);
    CHECK(read({config("    server: https://h\n", "    client-key-data: " + pem + "\n")})
              .errors.find("come together") != std::string::npos);
    CHECK(read({config("    server: http://h\n", "    token: a\n")}).errors.find("plain HTTP") !=
          std::string::npos);
    kubeconfig_options absent;
    absent.context = "absent";
    CHECK(read({config("    server: https://h\n", "    token: a\n")}, absent)
              .errors.find("no context \"absent\"") != std::string::npos);
    absent.context = "other";
    CHECK(read({config("    server: https://h\n", "    token: a\n")}, absent)
              .errors.find("contexts[0].context.cluster: there is no cluster \"none\"") !=
          std::string::npos);
    CHECK(read({"{}"}).errors.find("no context is chosen") != std::string::npos);
}

TEST_CASE("what would weaken the connection, or is not supported, is an error and not ignored") {
    const std::string insecure = "    server: https://h\n    insecure-skip-tls-verify: true\n";
    CHECK_FALSE(read({config(insecure, "    token: a\n")}).made);
    kubeconfig_options test;
    test.allow_insecure = true;
    const auto of = read({config(insecure, "    token: a\n")}, test);
    REQUIRE(of.made);
    CHECK_FALSE(of.made->verifies);
    for (const char* user :
         {"    username: a\n    password: b\n", "    auth-provider: {name: gcp}\n"})
        CHECK(read({config("    server: https://h\n", user)}).errors.find("is not supported") !=
              std::string::npos);
}

TEST_CASE("a plugin runs only by its absolute path, and only when that is allowed") {
    const std::string user = R"(    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: /usr/bin/login
      args: [get, token]
      env: [{name: AWS_PROFILE, value: b}]
      interactiveMode: Never
)";
    const auto denied = read({config("    server: https://h\n", user)});
    CHECK(denied.errors.find("users[0].user.exec.command: the program \"/usr/bin/login\" may not "
                             "be run") != std::string::npos);
    kubeconfig_options how;
    how.allowed_plugins = {"/usr/bin/login", "login"};
    const auto of = read({config("    server: https://h\n", user)}, how);
    REQUIRE(of.made);
    REQUIRE(of.made->plugin);
    CHECK(of.made->plugin->arguments == std::vector<std::string>{"get", "token"});
    std::string relative = user;
    relative.replace(relative.find("/usr/bin/login"), 14, "login");
    CHECK_FALSE(read({config("    server: https://h\n", relative)}, how).made);
}

TEST_CASE("a kubeconfig sets only variables that cannot change which code a plugin runs") {
    kubeconfig_options how;
    how.allowed_plugins = {"/usr/bin/login"};
    const auto with = [&](const std::string& name) {
        return read({config("    server: https://h\n",
                            "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n"
                            "      command: /usr/bin/login\n"
                            "      env: [{name: AWS_REGION, value: a}, {name: '" +
                                name + "', value: b}]\n")},
                    how);
    };
    for (const std::string name : {"LD_PRELOAD",
                                   "LD_AUDIT",
                                   "LD_LIBRARY_PATH",
                                   "DYLD_INSERT_LIBRARIES",
                                   "BASH_ENV",
                                   "ENV",
                                   "PYTHONPATH",
                                   "PYTHONSTARTUP",
                                   "CLOUDSDK_PYTHON",
                                   "CLOUDSDK_PYTHON_ARGS",
                                   "CLOUDSDK_PYTHON_SITEPACKAGES",
                                   "CLOUDSDK_ROOT_DIR",
                                   "PERL5OPT",
                                   "PERL5LIB",
                                   "RUBYOPT",
                                   "NODE_OPTIONS",
                                   "JAVA_TOOL_OPTIONS",
                                   "_JAVA_OPTIONS",
                                   "GCONV_PATH",
                                   "GLIBC_TUNABLES",
                                   "IFS",
                                   "PATH",
                                   "HOME",
                                   "OPENSSL_CONF",
                                   "BASH_FUNC_x%%",
                                   "LD_PRELOAD=/x.so:",
                                   "AWS_CONFIG_FILE",
                                   "AWS_SHARED_CREDENTIALS_FILE",
                                   "AZURE_CONFIG_DIR",
                                   "AZURE_EXTENSION_DIR",
                                   "CLOUDSDK_CONFIG",
                                   "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES",
                                   "XDG_CONFIG_HOME",
                                   "GIT_SSH_COMMAND",
                                   "ERL_FLAGS",
                                   "R_PROFILE",
                                   "JULIA_LOAD_PATH",
                                   "ELECTRON_RUN_AS_NODE",
                                   "GTK_MODULES",
                                   "QT_PLUGIN_PATH",
                                   "SSL_CERT_FILE",
                                   "KUBERNETES_EXEC_INFO",
                                   "aws_profile",
                                   "SOMETHING_NEW",
                                   "",
                                   "A B"}) {
        CAPTURE(name);
        const auto of = with(name);
        CHECK_FALSE(of.made);
        CHECK(of.errors.find("users[0].user.exec.env[1].name: the variable \"" + name +
                             "\" may not be set for a credential plugin") != std::string::npos);
        CHECK(of.errors.find("(set it in a script that is allowed as the plugin)") !=
              std::string::npos);
    }
    for (const std::string name :
         {"AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_STS_REGIONAL_ENDPOINTS", "AWS_ROLE_ARN",
          "AWS_WEB_IDENTITY_TOKEN_FILE", "USE_GKE_GCLOUD_AUTH_PLUGIN", "CLOUDSDK_CORE_PROJECT",
          "CLOUDSDK_ACTIVE_CONFIG_NAME", "AAD_LOGIN_METHOD", "AAD_SERVICE_PRINCIPAL_CLIENT_SECRET",
          "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE", "HTTPS_PROXY",
          "https_proxy", "NO_PROXY"}) {
        CAPTURE(name);
        CHECK(with(name).made);
    }
}

TEST_CASE("a user may act as another one, with a uid, groups and extra fields") {
    const std::string server = "    server: https://h\n";
    const auto of = read({config(server, "    token: a\n    as: jane\n    as-uid: u1\n"
                                         "    as-groups: [dev, ops]\n"
                                         "    as-user-extra: {scopes: [p, q], z: []}\n")});
    CHECK(of.errors.empty());
    REQUIRE(of.made);
    CHECK(of.made->as.user == "jane");
    CHECK(of.made->as.uid == "u1");
    CHECK(of.made->as.groups == std::vector<std::string>{"dev", "ops"});
    REQUIRE(of.made->as.extra.size() == 2);
    CHECK(of.made->as.extra[0].first == "scopes");
    CHECK(of.made->as.extra[0].second == std::vector<std::string>{"p", "q"});
    CHECK(read({config(server, "    token: a\n    as-groups: [dev]\n")})
              .errors.find("without a user") != std::string::npos);
    CHECK(read({config(server, "    token: a\n    as: \"jane\\r\\nX: y\"\n")})
              .errors.find("users[0].user.as: holds a line end") != std::string::npos);
    CHECK(read({config(server, "    token: a\n    as: j\n    as-user-extra: {a: [\"\\n\"]}\n")})
              .errors.find("holds a line end") != std::string::npos);
}

TEST_CASE("of several files the first entry of a name counts") {
    const std::string first = R"(current-context: here
clusters: [{name: c, cluster: {server: "https://first"}}]
)";
    const auto of = read({first, config("    server: https://second\n", "    token: a\n")});
    REQUIRE(of.made);
    CHECK(of.made->server == "https://first");
    CHECK(of.made->token == "a");
    CHECK(kubeconfig_paths("/a::/b", "/home/x") == std::vector<std::string>{"/a", "/b"});
    CHECK(kubeconfig_paths(nullptr, "/home/x") == std::vector<std::string>{"/home/x/.kube/config"});
    codec::diagnostics found;
    CHECK_FALSE(load_kubeconfig({"/nowhere/config"}, {}, found));
    CHECK(found.errors() == 1);
}

TEST_CASE("a pod without a service account is told so") {
    CHECK(in_cluster_connection("", "").error().find("this is no pod") == 0);
    CHECK(in_cluster_connection("10.0.0.1", "443", "/nowhere").error().find("/nowhere/token") == 0);
}

TEST_CASE("a pod finds its server by the environment, and who it is in its account's files") {
    char folder[] = "/tmp/muster-test-XXXXXX";
    REQUIRE(mkdtemp(folder) != nullptr);
    const std::string in = folder;
    for (const char* name : {"/token", "/ca.crt", "/namespace"})
        std::ofstream(in + name) << "team";
    const auto of = in_cluster_connection("10.0.0.1", "443", in);
    REQUIRE(of);
    CHECK(of->server == "https://10.0.0.1:443");
    CHECK(of->token_file == in + "/token");
    CHECK(of->authority.file == in + "/ca.crt");
    CHECK(of->name_space == "team");
    CHECK(of->verifies);
    CHECK(in_cluster_connection("fd00::1", "6443", in)->server == "https://[fd00::1]:6443");
    CHECK(in_cluster_connection("10.0.0.1", "tcp://10.0.0.1:443", in).error().find("is no URL") !=
          std::string::npos);
    std::remove((in + "/ca.crt").c_str());
    CHECK(in_cluster_connection("10.0.0.1", "443", in).error().find(in + "/ca.crt") == 0);
    for (const char* name : {"/token", "/namespace", ""})
        std::remove((in + name).c_str());
}

TEST_CASE("servers are read as URLs, IPv6 too") {
    const auto url = parse_server("https://[fd00::1]:6443/k8s/");
    REQUIRE(url);
    CHECK(url->host == "fd00::1");
    CHECK(url->port == "6443");
    CHECK(url->prefix == "/k8s");
    CHECK(parse_server("https://h")->port == "443");
    CHECK(parse_server("http://localhost:8001")->is_loopback());
    for (const char* odd :
         {"", "https://", "https://:1", "https://h:", "https://h:x", "https://h:99999",
          "https://h?a", "https://a b", "https://[::1", "https://h:123456789012345678901"})
        CHECK_FALSE(parse_server(odd));
}

TEST_CASE("base64 is decoded exactly or not at all") {
    CHECK(decode_base64("") == "");
    CHECK(decode_base64("YQ==") == "a");
    CHECK(decode_base64("YWI=") == "ab");
    CHECK(decode_base64("YW\nJj") == "abc");
    for (const char* odd : {"Y", "YQ", "YQ=", "YQ===", "=", "Y*==", "YQ==YQ=="})
        CHECK_FALSE(decode_base64(odd));
}

TEST_CASE("plugins print a token, take no shell and no time beyond theirs") {
    exec_plugin of;
    of.command = "/bin/sh";
    of.api_version = "client.authentication.k8s.io/v1";
    const auto run = [&](const std::string& script, std::int64_t patience = 20 * second) {
        of.arguments = {"-c", script};
        return run_exec_plugin(of, "/", patience);
    };
    const auto good = run(R"(echo '{"kind":"ExecCredential","status":{"token":"t'$HOME$A'",)"
                          R"("expirationTimestamp":"2030-01-01T00:00:00Z"}}')");
    REQUIRE(good);
    CHECK(good->token == "t/");
    CHECK(good->expires == 1'893'456'000 * second);
    CHECK(run("exit 1").error() == "the credential plugin \"/bin/sh\" failed");
    CHECK(run("echo s3cret").error().find("s3cret") == std::string::npos);
    CHECK(run("exec sleep 60", 50 * millisecond).error().find("took too long") !=
          std::string::npos);
    CHECK(run("yes").error().find("printed too much") != std::string::npos);
    CHECK(run(R"(echo '{"kind":"ExecCredential","status":{"clientCertificateData":"-----BEGIN"}}')")
              .error()
              .find("is not PEM") != std::string::npos);
    CHECK(run(R"(echo '{"kind":"ExecCredential","status":{"token":"t",)"
              R"("clientKeyData":"-----BEGIN K-----"}}')")
              .error()
              .find("expected both") != std::string::npos);
    of.environment = {{"LD_PRELOAD", "/x.so"}};
    CHECK(run("exit 0").error().find("\"LD_PRELOAD\"") != std::string::npos);
    of.environment.clear();
    of.command = "/nowhere/plugin";
    CHECK(run("").error().find("cannot be run") != std::string::npos);
}

} // namespace kube_kubeconfig_test
