// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <muster/adapter/backoff.hpp>
#include <muster/adapter/instant.hpp>
#include <muster/adapter/virtual_time.hpp>
#include <muster/adapter/writes.hpp>
#include <support/api_journal.hpp>
#include <support/memory_store.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// An API server in memory: a `memory_store` that takes orders with preconditions and answers them
/// some time later, with faults by plan and by chance. `memory_client` is a cluster that talks to
/// it.
template<std::size_t Width>
class memory_api : public memory_store<Width> {
    using base = memory_store<Width>;

public:
    using typename base::gang_object;
    using typename base::pod_object;
    using typename base::traits;

    explicit memory_api(std::uint64_t seed = 1) : chance_(seed) {}

    /// Of a hundred orders, how many go wrong by chance.
    std::int64_t fault_percent = 0;
    std::vector<fault_rule> faults;

    [[nodiscard]] std::optional<std::int64_t> next() const {
        const auto stored = this->next_planned();
        const auto asked = planned_.next();
        return stored && asked ? std::min(stored, asked) : stored ? stored : asked;
    }
    /// Everything happens that is due by then.
    void run_until(std::int64_t time) {
        while (const auto when = next()) {
            if (*when > time)
                break;
            if (this->next_planned() == when) {
                this->happen_next();
                continue;
            }
            this->now_ = std::max(this->now_, *when);
            auto what = planned_.take(this->now_);
            std::visit([this](auto& each) { this->happen(each); }, *what);
        }
        this->now_ = std::max(this->now_, time);
    }

    // ---- for clients ---------------------------------------------------------------------------

    using any_order = std::variant<prepare_order<traits>, ungate_order<traits>, bind_order<traits>,
                                   evict_order<traits>, status_order<traits>, event_order<traits>,
                                   where_is_order<traits>, is_current_order<traits>>;
    struct answer_to {
        std::string client;
        order_result<traits> result;
    };

    /// A client sends an order. `seen` of a question about a gang: how far its watch had come.
    void send(const std::string& client, any_order order, std::size_t seen = 0) {
        if (crashed_.contains(client))
            return;
        const fault wrong = next_fault(order);
        const ticket of = std::visit([](const auto& each) { return each.of; }, order);
        request made{client, std::move(order), wrong, now_, seen};
        order_result<traits> result;
        result.of = of;
        switch (wrong.what) {
        case fault_kind::none:
            return plan(this->how_long.latency, std::move(made));
        case fault_kind::refused:
            result.what = outcome::refused;
            result.message = "admission webhook denied the request";
            break;
        case fault_kind::conflict:
            result.what = outcome::conflict;
            break;
        case fault_kind::too_many:
        case fault_kind::unavailable:
            result.what = outcome::transient;
            if (wrong.retry_after > 0)
                result.retry_after = wrong.retry_after;
            break;
        case fault_kind::error:
            result.what = outcome::unknown;
            break;
        case fault_kind::lost_after:
            plan(this->how_long.latency, std::move(made));
            result.what = outcome::unknown;
            return plan(this->how_long.timeout, answer_to{client, result});
        case fault_kind::late:
            plan(this->how_long.timeout + this->how_long.latency, std::move(made));
            result.what = outcome::unknown;
            return plan(this->how_long.timeout, answer_to{client, result});
        case fault_kind::lost_before:
            result.what = outcome::unknown;
            return plan(this->how_long.timeout, answer_to{client, result});
        case fault_kind::crash_after:
            plan(this->how_long.latency, std::move(made));
            crashed_.insert(client);
            return;
        case fault_kind::crash_before:
            crashed_.insert(client);
            return;
        }
        plan(2 * this->how_long.latency, answer_to{client, result});
    }
    /// The answers that have arrived for a client.
    [[nodiscard]] std::vector<order_result<traits>> take_answers(const std::string& client) {
        const auto at = inbox_.find(client);
        return at == inbox_.end() ? std::vector<order_result<traits>>{}
                                  : std::exchange(at->second, {});
    }
    /// A fault told it to die.
    [[nodiscard]] bool has_crashed(const std::string& client) const {
        return crashed_.contains(client);
    }
    /// A client is gone, and its connections with it: what is `late` of it never comes.
    void disconnect(const std::string& client) { crashed_.insert(client); }
    /// How many orders that are no questions were sent.
    [[nodiscard]] std::int64_t writes_sent() const noexcept { return writes_sent_; }

    struct lease_record {
        std::string holder;
        std::uint64_t renewals = 0;
    };
    lease_record lease;
    void renew(const std::string& client) {
        lease.holder = client;
        ++lease.renewals;
        note(api_action::renewed, "", client, now_);
    }

private:
    struct request {
        std::string client;
        any_order order;
        fault wrong;
        std::int64_t sent = 0;
        std::size_t seen = 0;
    };
    using planned = std::variant<request, answer_to>;

    template<class What>
    void plan(std::int64_t in, What what) {
        planned_.plan(this->now_ + in, planned(std::move(what)));
    }

    void happen(answer_to& what) { inbox_[what.client].push_back(std::move(what.result)); }
    void happen(request& what) {
        if (what.wrong.what == fault_kind::late && crashed_.contains(what.client))
            return; // its connection was closed long ago
        order_result<traits> result;
        std::visit(
            [&](auto& order) {
                result.of = order.of;
                carry_out(order, what, result);
            },
            what.order);
        if (what.wrong.what == fault_kind::none)
            plan(this->how_long.latency, answer_to{what.client, std::move(result)});
    }

    /// The pod of an order, or nothing and why.
    template<class Order>
    pod_object* subject(const Order& order, order_result<traits>& result) {
        const auto at = pods_.objects.find(order.pod);
        if (at == pods_.objects.end())
            result.what = outcome::gone;
        else if (at->second.uid != order.uid)
            result.what = outcome::replaced;
        else
            return &at->second;
        return nullptr;
    }

    void carry_out(prepare_order<traits>& order, const request& from,
                   order_result<traits>& result) {
        const pod_object* const pod = subject(order, result);
        if (pod == nullptr)
            return;
        result.what = outcome::applied;
        if (!pod->unbound_volumes)
            return;
        pod_object changed = *pod;
        changed.unbound_volumes = false;
        this->put(pods_, order.pod, std::move(changed));
        note_pod(api_action::prepared, order.pod, from.client, from.sent);
    }
    void carry_out(ungate_order<traits>& order, const request& from, order_result<traits>& result) {
        const pod_object* const pod = subject(order, result);
        if (pod == nullptr)
            return;
        result.what = outcome::applied;
        if (!pod->own_gate)
            return;
        pod_object changed = *pod;
        changed.own_gate = false;
        this->put(pods_, order.pod, std::move(changed));
        note_pod(api_action::ungated, order.pod, from.client, from.sent);
    }
    void carry_out(bind_order<traits>& order, const request& from, order_result<traits>& result) {
        const pod_object* const pod = subject(order, result);
        if (pod == nullptr)
            return;
        if (pod->on || pod->spec.terminating) {
            result.what = outcome::conflict;
        } else if (pod->unbound_volumes) {
            result.what = outcome::refused;
        } else if (pod->own_gate || pod->other_gate) {
            result.what = outcome::gated;
        } else {
            result.what = outcome::applied;
            this->stand(order.pod, order.node, from.client, from.sent);
        }
    }
    void carry_out(evict_order<traits>& order, const request& from, order_result<traits>& result) {
        if (subject(order, result) == nullptr)
            return;
        result.what = outcome::applied;
        this->end_pod(order.pod, api_action::evicted, from.client, from.sent);
    }
    void carry_out(status_order<traits>& order, const request& from, order_result<traits>& result) {
        const auto at = gangs_.objects.find(order.gang);
        if (at == gangs_.objects.end()) {
            result.what = outcome::gone;
            return;
        }
        if (at->second.uid != order.uid) {
            result.what = outcome::replaced;
            return;
        }
        gang_object changed = at->second;
        changed.reached = changed.reached || order.status.reached;
        changed.status = order.status;
        this->put(gangs_, order.gang, std::move(changed));
        note(api_action::status, order.gang, from.client, from.sent).status = order.status;
        result.what = outcome::applied;
    }
    void carry_out(event_order<traits>& order, const request& from, order_result<traits>& result) {
        note(api_action::event, order.gang, from.client, from.sent).reason = order.reason;
        result.what = outcome::applied;
    }
    void carry_out(where_is_order<traits>& order, const request&, order_result<traits>& result) {
        if (const pod_object* const pod = subject(order, result)) {
            result.what = outcome::applied;
            result.on = pod->on;
        }
    }
    void carry_out(is_current_order<traits>& order, const request& from,
                   order_result<traits>& result) {
        const auto at = gangs_.objects.find(order.gang);
        result.what = at == gangs_.objects.end()    ? outcome::gone
                      : at->second.uid != order.uid ? outcome::replaced
                                                    : outcome::applied;
        if (result.what != outcome::applied)
            return;
        for (std::size_t entry = from.seen; entry < gangs_.log.size(); ++entry)
            if (gangs_.log[entry].key == order.gang)
                result.what = outcome::conflict;
    }

    [[nodiscard]] fault next_fault(const any_order& order) {
        constexpr std::array kinds{order_kind::prepare,  order_kind::ungate,    order_kind::bind,
                                   order_kind::evict,    order_kind::status,    order_kind::event,
                                   order_kind::where_is, order_kind::is_current};
        const order_kind kind = kinds[order.index()];
        const bool writes = kind != order_kind::where_is && kind != order_kind::is_current;
        writes_sent_ += writes ? 1 : 0;
        const std::string key = std::visit(
            [](const auto& each) -> std::string {
                if constexpr (requires { each.pod; })
                    return each.pod;
                else
                    return each.gang;
            },
            order);
        for (fault_rule& rule : faults) {
            if (rule.of == order_kind::any ? !writes : rule.of != kind)
                continue;
            if (!rule.key.empty() && rule.key != key)
                continue;
            ++rule.seen;
            if (rule.seen >= rule.first && rule.seen < rule.first + rule.times)
                return rule.what;
        }
        if (chance_.between(0, 100) >= fault_percent)
            return {};
        constexpr std::array some{fault_kind::too_many,   fault_kind::unavailable,
                                  fault_kind::error,      fault_kind::lost_before,
                                  fault_kind::lost_after, fault_kind::conflict,
                                  fault_kind::late};
        return {some[static_cast<std::size_t>(
                    chance_.between(0, static_cast<std::int64_t>(some.size())))],
                chance_.between(0, second)};
    }

    using base::gangs_;
    using base::journal_;
    using base::note;
    using base::note_pod;
    using base::now_;
    using base::pods_;

    virtual_time<planned> planned_;
    std::map<std::string, std::vector<order_result<traits>>> inbox_;
    std::set<std::string> crashed_;
    jitter chance_;
    std::int64_t writes_sent_ = 0;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
