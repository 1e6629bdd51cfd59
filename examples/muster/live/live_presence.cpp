// SPDX-License-Identifier: Apache-2.0
#include "live_presence.hpp"

#include <string_view>
#include <utility>

#include <muster/apis/core/objects.hpp>

#include "query_value.hpp"

namespace cli {

namespace kube = muster::kube;

namespace {

using kube::page_answer;

page_answer explain_by(std::string_view query, const live_presence::explainer& explain) {
    const auto group = query_value(query, "group");
    if (!group || group->empty())
        return {400, "no group is named (expected /debug/explain?group=NAMESPACE/NAME)\n"};
    if (auto text = explain(*group))
        return {200, std::move(*text)};
    return {404, "there is no group " + muster::codec::in_quotes(*group) +
                     " (expected group=NAMESPACE/NAME)\n"};
}

page_answer refuse_remote() {
    return {403, "/debug/explain answers only clients on loopback (expected a request through "
                 "kubectl port-forward, or from within the pod)\n"};
}

void log_listed(const listed_counts& counts) {
    std::string text = "listed: ";
    log_fields fields;
    for (const auto& [what, count] : counts) {
        text += (fields.empty() ? "" : ", ") + std::to_string(count) + " " + what;
        fields.emplace_back(what, std::to_string(count));
    }
    log_info(text, std::move(fields));
}

} // namespace

std::optional<live_presence> live_presence::open(const leading_request& asked) {
    live_presence made;
    if (asked.address.empty())
        return made;
    auto page = kube::status_page::listen(asked.port, asked.address);
    if (!page) {
        log_error(page.error());
        return std::nullopt;
    }
    made.page_.emplace(std::move(page).value());
    made.handles_.push_back(made.page_->handle());
    const std::string port = std::to_string(made.page_->port());
    log_info("status at http://" + asked.address + ":" + port + "/metrics",
             {{"address", asked.address}, {"port", port}});
    return made;
}

void live_presence::tell_lead(bool leads) {
    if (std::exchange(led_, leads) != leads)
        log_info(leads ? "became the leader" : "is no longer the leader");
}

void live_presence::tell_synced(bool synced, const std::function<listed_counts()>& counts) {
    if (!std::exchange(was_synced_, synced) && synced)
        log_listed(counts());
}

void live_presence::serve(std::int64_t now, const std::function<std::string()>& metrics,
                          const explainer& explain) {
    if (!page_)
        return;
    page_->poll(now, [&](const kube::page_request& asked) -> page_answer {
        if (asked.path == "/metrics")
            return {200, metrics()};
        if (asked.path == "/debug/explain" && explain)
            return asked.is_local
                       ? forked_.answer(asked, [&] { return explain_by(asked.query, explain); })
                       : refuse_remote();
        if (asked.path != "/healthz" && asked.path != "/readyz")
            return {404, std::string("/metrics /healthz /readyz") +
                             (explain ? " /debug/explain\n" : "\n")};
        const bool good = asked.path == "/healthz" ? progress.alive(now) : progress.ready(now);
        return good ? page_answer{200, "ok\n"} : page_answer{503, "not ok\n"};
    });
}

std::int64_t live_presence::longest_wait() const noexcept {
    if (gives_up_)
        return 100 * kube::millisecond;
    return page_ && page_->busy() ? 20 * kube::millisecond : kube::second;
}

} // namespace cli
