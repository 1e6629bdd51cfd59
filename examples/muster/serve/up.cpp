// SPDX-License-Identifier: Apache-2.0
#include "up.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/system/system_error.hpp>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <muster/input/read_inputs.hpp>
#include <muster/kube/dialect.hpp>
#include <muster/serve/certificates.hpp>
#include <muster/serve/control.hpp>
#include <muster/serve/http_front.hpp>
#include <muster/serve/kubelets.hpp>
#include <muster/serve/restore.hpp>
#include <muster/serve/stored_workloads.hpp>
#include <muster/serve/volume_controller.hpp>

#include "../commands/exit_codes.hpp"
#include "../live/kubeconfig_file.hpp"
#include "../live/log.hpp"
#include "../plan/report.hpp"

namespace cli {

namespace {

using namespace muster::testing::api_server;
using api_request = muster::testing::api_server::request;

volatile std::sig_atomic_t told_to_stop = 0;
void stop(int) {
    told_to_stop = 1;
}

std::int64_t clock_now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string base64(const std::string& text) {
    std::string made(4 * ((text.size() + 2) / 3), '\0');
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(made.data()),
                    reinterpret_cast<const unsigned char*>(text.data()),
                    static_cast<int>(text.size()));
    return made;
}

std::string new_token() {
    std::string bytes(24, '\0');
    if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()),
                   static_cast<int>(bytes.size())) != 1)
        return {};
    std::string made;
    for (const char each : bytes) {
        const auto byte = static_cast<unsigned char>(each);
        made += "0123456789abcdef"[byte >> 4U];
        made += "0123456789abcdef"[byte & 15U];
    }
    return made;
}

std::string kubeconfig(const std::string& url, const std::string& authority,
                       const std::string& token) {
    std::string text = "apiVersion: v1\nkind: Config\ncurrent-context: muster\nclusters:\n"
                       "- name: muster\n  cluster:\n    server: " +
                       url + "\n";
    if (!authority.empty())
        text += "    certificate-authority-data: " + base64(authority) + "\n";
    text += "users:\n- name: muster\n  user: " +
            (token.empty() ? std::string("{}") : "{token: " + token + "}") +
            "\ncontexts:\n- name: muster\n  context: {cluster: muster, user: muster}\n";
    return text;
}

/// Serves the kind of the object without a schema, if Muster reads the kind and no file defines it.
/// Snapshots of clusters hold no definitions.
void serve_undefined(api_store& store, const json::object& object) {
    const auto serves = [&](std::string_view version, std::string_view kind) {
        return text_at(object, {"apiVersion"}) == version && text_at(object, {"kind"}) == kind;
    };
    for (std::size_t at = 0; at < store.kinds().size(); ++at)
        if (store.kinds().is_served(at) &&
            serves(store.kinds()[at].api_version(), store.kinds()[at].kind))
            return;
    for (const muster::kube::collection& each : muster::kube::snapshot_collections()) {
        const auto slash = each.version.find('/');
        if (!serves(each.version, each.kind) || slash == std::string_view::npos)
            continue;
        kind_info made;
        made.group = each.version.substr(0, slash);
        made.version = each.version.substr(slash + 1);
        made.plural = each.plural;
        made.kind = each.kind;
        for (const char c : each.kind)
            made.singular += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        // A manifest may leave the namespace of a group out.
        made.namespaced = each.holds == muster::kube::content::group ||
                          !text_at(object, {"metadata", "namespace"}).empty();
        made.custom = made.has_status = made.counts_generations = true;
        log_warning("no file defines " + made.plural + "." + made.group +
                    ": served without a schema");
        store.serve(std::move(made));
    }
}

/// Returns the absolute path, so that the path is valid in other folders.
std::string absolute_path(const std::string& path) {
    std::error_code wrong;
    const auto found = std::filesystem::absolute(path, wrong);
    return wrong ? path : found.string();
}

/// Loads the objects of files. Returns `fine`, or the exit code if a file cannot be read or an
/// object is refused.
exit_code load(api_store& store, const std::vector<std::string>& files) {
    if (files.empty())
        return fine;
    muster::codec::diagnostics found;
    const auto documents =
        muster::codec::read_inputs(files, found, stdin, muster::codec::on_unread::isolate);
    for (const auto& each : found.findings())
        write_log(each.level == muster::codec::severity::error ? log_level::error
                                                               : log_level::warning,
                  to_text(each));
    std::vector<const json::object*> objects;
    const auto add = [&](const json::value& each, bool is_whole) {
        if (!each.is_object())
            return;
        const json::object& object = each.get_object();
        if (is_whole)
            objects.push_back(&object);
        else
            write_log(log_level::warning, std::string(text_at(object, {"kind"})) + " " +
                                              std::string(text_at(object, {"metadata", "name"})) +
                                              " is left out: a part of it cannot be read");
    };
    for (const auto& document : documents) {
        const json::object* const root = document.root().if_object();
        const json::array* const items = root ? array_at(*root, {"items"}) : nullptr;
        if (!items)
            add(document.root(), document.unread_of({}).empty());
        for (std::size_t at = 0; items && at < items->size(); ++at)
            add((*items)[at], document.unread_of({at}).empty());
    }
    // Other objects need definitions and priority classes, whatever the order of the files.
    std::ranges::stable_sort(objects, {}, [](const json::object* each) {
        const std::string_view kind = text_at(*each, {"kind"});
        return kind == "CustomResourceDefinition" ? 0 : kind == "PriorityClass" ? 1 : 2;
    });
    exit_code code = found.ok() ? fine : code_of_failure(found);
    for (const json::object* const each : objects) {
        serve_undefined(store, *each);
        if (const auto wrong = restore(store, *each)) {
            log_error(*wrong);
            code = code == fine ? invalid_input : code;
        }
    }
    return code;
}

/// False when the file cannot be read or a line of it is none of `token,user`.
bool read_tokens(const std::string& path, std::map<std::string, std::string, std::less<>>& tokens) {
    std::ifstream file(path);
    if (!file) {
        log_error(path + ": cannot be read");
        return false;
    }
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        const auto comma = line.find(',');
        if (line.empty())
            continue;
        if (comma == 0 || comma == std::string::npos) {
            log_error(path + ":" + std::to_string(number) + ": no token (expected token,user)");
            return false;
        }
        const std::string rest = line.substr(comma + 1);
        tokens[line.substr(0, comma)] = rest.substr(0, rest.find(','));
    }
    return true;
}

/// False when one of them is no rule.
bool plan_faults(const std::vector<std::string>& rules, faults& trouble) {
    for (const std::string& each : rules) {
        const auto document = parse_json(each);
        auto rule =
            document && document->is_object() ? read_rule(document->get_object()) : std::nullopt;
        if (!rule) {
            log_error("--fault " + each +
                      R"(: no such fault (expected e.g. )"
                      R"({"what":"refuse","code":429,"verb":"create","percent":20,"times":0}))");
            return false;
        }
        trouble.plan(*std::move(rule));
    }
    return true;
}

/// Commands of this program that run as processes of their own, and end when this one does.
class companions {
public:
    companions() = default;
    companions(const companions&) = delete;
    companions& operator=(const companions&) = delete;
    ~companions() {
        for (const auto& [process, name] : running_) {
            ::kill(process, SIGKILL);
            ::waitpid(process, nullptr, 0);
        }
    }

    /// Starts a command on the cluster of that kubeconfig, without leader election: it is the only
    /// instance.
    bool start(const std::string& command, const std::string& config) {
        std::vector<std::string> words{"muster",
                                       command,
                                       "--kubeconfig",
                                       config,
                                       "--no-leader-elect",
                                       "--address",
                                       "",
                                       "--log-format",
                                       process_log().format == log_format::json ? "json" : "text"};
        // No other scheduler runs, so this one also serves pods that name no scheduler.
        if (command == "schedule")
            for (const char* each :
                 {"--scheduler-name", "t9k-scheduler", "--scheduler-name", "default-scheduler",
                  "--dialect", "t9k", "--dialect", "workload"})
                words.emplace_back(each);
        std::vector<char*> arguments;
        for (std::string& each : words)
            arguments.push_back(each.data());
        arguments.push_back(nullptr);
        const pid_t parent = ::getpid();
        const pid_t process = ::fork();
        if (process < 0)
            return false;
        if (process == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() == parent)
                ::execv("/proc/self/exe", arguments.data());
            ::_exit(127);
        }
        running_.emplace(process, command);
        return true;
    }

    void stop() {
        for (const auto& [process, name] : running_)
            ::kill(process, SIGTERM);
    }

    /// Takes note of those that ended; their names.
    std::vector<std::string> ended() {
        std::vector<std::string> names;
        for (auto at = running_.begin(); at != running_.end();) {
            if (::waitpid(at->first, nullptr, WNOHANG) != at->first) {
                ++at;
                continue;
            }
            names.push_back(at->second);
            at = running_.erase(at);
        }
        return names;
    }
    [[nodiscard]] bool any() const noexcept { return !running_.empty(); }

private:
    std::map<pid_t, std::string> running_;
};

} // namespace

int up(const up_request& asked) {
    process_log() = {asked.format, "up"};
    faults trouble(asked.seed);
    if (!plan_faults(asked.faults, trouble))
        return usage;
    api_store store(asked.seed, clock_now());
    // Where leases are, for programs that are started by hand.
    if (const auto wrong =
            restore(store, {{"apiVersion", "v1"},
                            {"kind", "Namespace"},
                            {"metadata", json::object{{"name", "muster-system"}}}})) {
        log_error(*wrong);
        return broken;
    }
    if (const exit_code code = load(store, asked.files); code != fine)
        return code;
    kubelets nodes(store);
    nodes.start_delay = nodes.stop_delay = asked.pod_milliseconds * 1'000'000;
    volume_controller volumes(store);
    volumes.provisions = !asked.no_provisioner;
    stored_workloads workloads(store);

    const certificate_authority authority;
    front_options how;
    how.port = asked.port;
    how.aside = [&](const api_request& from) { return control(store, trouble, from); };
    const std::string token = asked.plain ? "" : new_token();
    if (!asked.plain) {
        const key_pair own = authority.server({"muster", {}, "DNS:localhost,IP:127.0.0.1"});
        how.tls = tls_identity{own.certificate, own.key, authority.certificate()};
        if (!asked.tokens.empty() && !read_tokens(asked.tokens, how.tokens))
            return usage;
        how.tokens[token] = "admin";
        how.needs_user = true;
    }
    std::optional<http_front> opened;
    try {
        opened.emplace(store, trouble, how);
    } catch (const boost::system::system_error& wrong) {
        log_error("cannot listen on 127.0.0.1:" + std::to_string(how.port) + ": " +
                  wrong.code().message() + " (expected a free port; --port 0 takes any)");
        return usage;
    }
    http_front& front = *opened;
    const std::string config =
        kubeconfig(front.url(), asked.plain ? "" : authority.certificate(), token);
    if (const auto wrong = write_kubeconfig(asked.kubeconfig, config)) {
        log_error(*wrong);
        return usage;
    }
    // Before the line that says that it serves: a reader of that line may end it at once.
    std::signal(SIGINT, stop);
    std::signal(SIGTERM, stop);
    const std::size_t served = store.objects().all(store.kinds().at("", "v1", "nodes")).size();
    std::printf("serving %zu node%s at %s\n"
                "  export KUBECONFIG=%s\n"
                "  kubectl get nodes\n"
                "Ctrl-C ends it, and all that is in it.\n",
                served, served == 1 ? "" : "s", front.url().c_str(),
                absolute_path(asked.kubeconfig).c_str());
    std::fflush(stdout);
    const auto serve = [&] {
        front.wait(clock_now(), std::chrono::milliseconds(20));
        store.set_time(clock_now());
        if (!asked.no_kubelets)
            nodes.step();
        volumes.step();
        // Without companions, the controllers of workloads may be programs that the caller starts.
        if (!asked.beside.empty())
            workloads.step();
        store.settle();
    };
    companions beside;
    for (const std::string& each : asked.beside)
        if (!beside.start(each, asked.kubeconfig)) {
            log_error("muster " + each + " cannot be started");
            return usage;
        }
    while (told_to_stop == 0) {
        serve();
        for (const std::string& each : beside.ended())
            if (told_to_stop == 0) { // Ctrl-C reaches them too.
                log_error("muster " + each + " has ended");
                return usage;
            }
    }
    // What they do last is done here.
    beside.stop();
    for (int turn = 0; turn < 100 && beside.any(); ++turn) {
        serve();
        static_cast<void>(beside.ended());
    }
    return fine;
}

} // namespace cli
