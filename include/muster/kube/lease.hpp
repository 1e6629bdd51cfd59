// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/kube/api_status.hpp>
#include <muster/kube/arrived.hpp>

#include <muster/kube/http.hpp>
#include <muster/kube/time.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

struct lease_options {
    std::string name_space;
    std::string name;
    std::string identity; ///< unique among all candidates, and anew at every start
    std::int64_t duration = 15 * second;
    /// No write is started when the last renewal lies further back. Less than `duration`: what was
    /// started must also have ended before another may lead.
    std::int64_t renew_deadline = 10 * second;
    std::int64_t retry = 2 * second;
    std::uint64_t seed = 0;
};

/// Leader election by a coordination.k8s.io/v1 Lease, without I/O: it says which request it wants
/// and is fed the answers. Times that others wrote are never compared with the own clock: a
/// candidate takes the lease when it saw the same record for a whole duration. Writes go out with
/// the version that was read, so of two candidates one gets 409.
///
/// It keeps two leaders apart as long as their steady clocks run at rates that differ by less than
/// duration / renew_deadline. There is no fencing: who leads anew must list everything anew before
/// it decides (`term()` tells).
class lease {
public:
    explicit lease(lease_options how) : how_(std::move(how)), jitter_(how_.seed) {}

    /// The request that is due, if any. At most one is under way.
    [[nodiscard]] std::optional<http_request> next(instant now) {
        if (leading_ && now.steady >= renewed_ + how_.renew_deadline)
            step_down();
        if (asking_ != question::nothing || now.steady < due_)
            return std::nullopt;
        asked_ = now.steady;
        if (stopping_) {
            if (!leading_ || !known_) {
                // What cannot be given up runs out by itself.
                step_down();
                return std::nullopt;
            }
            asking_ = question::release;
            return write(http_method::put, record_of(now, ""));
        }
        if (!known_) {
            asking_ = absent_ ? question::take : question::look;
            return absent_ ? write(http_method::post, record_of(now, how_.identity)) : read();
        }
        if (leading_) {
            asking_ = question::renew;
            return write(http_method::put, record_of(now, how_.identity));
        }
        if (may_take(now.steady)) {
            asking_ = question::take;
            return write(http_method::put, record_of(now, how_.identity));
        }
        asking_ = question::look;
        return read();
    }

    void done(const http_answer& answer, instant now) {
        const question asked = std::exchange(asking_, question::nothing);
        due_ = now.steady + how_.retry + jitter_.between(0, how_.retry / 5);
        const std::string before = std::exchange(trouble_, {});
        if (answer.is_success()) {
            std::string wrong;
            const auto document = detail::one_document("lease", answer.body, wrong);
            if (!document || !note(document->root().get_object(), now.steady)) {
                trouble_ = document ? "the lease has no version" : wrong;
                return forget();
            }
            if (asked == question::release)
                step_down();
            else if (asked != question::look && known_->holder == how_.identity)
                renewed(asked);
            else if (leading_ && known_->holder != how_.identity)
                step_down();
            else if (asked == question::look && leading_)
                due_ = now.steady;
            if (asked == question::look && may_take(now.steady))
                due_ = now.steady;
            return;
        }
        trouble_ = describe(answer);
        if (const auto wait = status_of(answer).retry_after)
            due_ = std::max(due_, now.steady + *wait);
        if (answer.fault == http_fault::none && answer.status == 404 && asked == question::look) {
            // What hindered its making goes on until it is made.
            trouble_ = before;
            known_.reset();
            absent_ = true;
            due_ = now.steady;
        } else if (asked != question::look && answer.status != 429 &&
                   answer.fault != http_fault::not_sent) {
            // Somebody else wrote it, or nobody knows whether it was written: it is read again.
            forget();
            due_ = std::min(due_, now.steady + how_.retry / 4);
        }
    }

    /// Whether a write may be started now.
    [[nodiscard]] bool leads(std::int64_t now) const noexcept {
        return leading_ && !stopping_ && now < renewed_ + how_.renew_deadline;
    }
    /// Until when writes may be started, if it leads.
    [[nodiscard]] std::int64_t leads_until() const noexcept {
        return renewed_ + how_.renew_deadline;
    }
    /// Counts the times that it came to lead. What was known before is not to be trusted.
    [[nodiscard]] std::uint64_t term() const noexcept { return term_; }
    /// Who holds the lease, as last seen.
    [[nodiscard]] std::string holder() const { return known_ ? known_->holder : std::string{}; }

    /// Gives the lease up. To be called only when all that it guarded has ended: no request is
    /// under way, and none is started any more.
    void release() noexcept {
        stopping_ = true;
        due_ = 0;
    }
    [[nodiscard]] bool released() const noexcept {
        return stopping_ && !leading_ && asking_ == question::nothing;
    }

    /// When next() is to be asked again.
    [[nodiscard]] std::int64_t wakes() const noexcept {
        const std::int64_t due = asking_ == question::nothing ? due_ : never_comes;
        return leading_ ? std::min(due, renewed_ + how_.renew_deadline) : due;
    }

    [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

private:
    enum class question : std::uint8_t { nothing, look, take, renew, release };

    struct record {
        std::string holder;
        std::string version;
        std::string uid;
        std::string renewed;  ///< as it was written: only ever compared for equality
        std::string acquired; ///< as it was written
        std::int64_t duration = 0;
        std::int64_t transitions = 0;

        /// The version may change without the holder having renewed.
        [[nodiscard]] bool same_hold(const record& other) const {
            return holder == other.holder && renewed == other.renewed && uid == other.uid &&
                   transitions == other.transitions;
        }
    };

    [[nodiscard]] std::string path() const {
        return "/apis/coordination.k8s.io/v1/namespaces/" + escape(how_.name_space) + "/leases";
    }

    [[nodiscard]] http_request read() const {
        http_request request;
        request.path = path() + "/" + escape(how_.name);
        request.patience = how_.renew_deadline / 2;
        return request;
    }

    [[nodiscard]] http_request write(http_method method, boost::json::object body) const {
        http_request request = read();
        request.method = method;
        if (method == http_method::post)
            request.path = path();
        request.content_type = json_type;
        request.body = boost::json::serialize(body);
        return request;
    }

    [[nodiscard]] boost::json::object record_of(instant now, const std::string& holder) const {
        const bool releases = holder.empty();
        const bool goes_on = known_ && known_->holder == how_.identity;
        boost::json::object metadata{{"name", how_.name}, {"namespace", how_.name_space}};
        if (known_)
            metadata["resourceVersion"] = known_->version;
        if (known_)
            metadata["uid"] = known_->uid;
        const std::string time = micro_time_text(now.wall);
        boost::json::object spec{
            {"holderIdentity", holder},
            {"leaseDurationSeconds",
             releases ? std::int64_t{1} : (how_.duration + second - 1) / second},
            {"acquireTime", goes_on && !known_->acquired.empty() ? known_->acquired : time},
            {"renewTime", time},
            {"leaseTransitions", known_ ? known_->transitions + (goes_on ? 0 : 1) : 0}};
        return {{"apiVersion", "coordination.k8s.io/v1"},
                {"kind", "Lease"},
                {"metadata", std::move(metadata)},
                {"spec", std::move(spec)}};
    }

    /// Takes note of the record; false when it is none.
    [[nodiscard]] bool note(const boost::json::object& object, std::int64_t now) {
        const boost::json::object* const metadata = detail::object_in(object, "metadata");
        const boost::json::object none;
        const boost::json::object* const written = detail::object_in(object, "spec");
        const boost::json::object& spec = written ? *written : none;
        record seen;
        seen.version = metadata ? detail::string_in(*metadata, "resourceVersion") : std::string{};
        if (seen.version.empty())
            return false;
        seen.uid = detail::string_in(*metadata, "uid");
        seen.holder = detail::string_in(spec, "holderIdentity");
        seen.renewed = detail::string_in(spec, "renewTime");
        seen.acquired = detail::string_in(spec, "acquireTime");
        seen.transitions = detail::number_in(spec, "leaseTransitions");
        constexpr std::int64_t hour = 60 * minute;
        seen.duration =
            std::clamp<std::int64_t>(detail::number_in(spec, "leaseDurationSeconds"), 0, 3600) *
            second;
        seen.duration = std::clamp(seen.duration, how_.duration, hour);
        if (!last_seen_ || !seen.same_hold(*last_seen_))
            seen_since_ = now;
        last_seen_ = seen;
        known_ = std::move(seen);
        absent_ = false;
        return true;
    }

    [[nodiscard]] bool may_take(std::int64_t now) const {
        return known_ && !stopping_ &&
               (known_->holder.empty() || known_->holder == how_.identity ||
                now >= seen_since_ + known_->duration);
    }

    /// The lease was written by us; it counts from when the request went out.
    void renewed(question asked) {
        renewed_ = asked_;
        if (!leading_ || asked == question::take) {
            if (!leading_)
                ++term_;
            leading_ = true;
        }
    }

    void step_down() noexcept { leading_ = false; }
    void forget() noexcept {
        known_.reset();
        absent_ = false;
    }

    lease_options how_;
    jitter jitter_;
    question asking_ = question::nothing;
    std::int64_t asked_ = 0;
    std::int64_t due_ = 0;
    std::optional<record> known_; ///< what the next write builds on
    std::optional<record> last_seen_;
    std::int64_t seen_since_ = 0;
    bool absent_ = false;
    bool leading_ = false;
    bool stopping_ = false;
    std::int64_t renewed_ = 0;
    std::uint64_t term_ = 0;
    std::string trouble_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
