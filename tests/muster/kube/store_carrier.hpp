// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/serialize.hpp>

#include <muster/kube/http.hpp>
#include <muster/kube/transport.hpp>
#include <muster/serve/api_store.hpp>

namespace muster_test {

/// Carries requests to an API server in memory, in virtual time: whoever waits makes time pass.
class store_carrier {
public:
    enum class mishap { none, lost, not_sent, refused };

    explicit store_carrier(muster::testing::api_server::api_store& store) : store_(&store) {}

    /// What goes wrong with a request, if anything.
    std::function<mishap(const muster::kube::http_request&)> harm;
    /// Nothing reaches the server, and nothing comes from it.
    bool cut_off = false;

    std::uint64_t start(muster::kube::http_request what) {
        asked_.emplace_back(++last_, std::move(what));
        return last_;
    }
    void cancel(std::uint64_t number) {
        std::erase_if(asked_, [&](const auto& each) { return each.first == number; });
        open_.erase(number);
    }

    std::vector<muster::kube::arrival> poll(std::int64_t patience, std::span<const int> = {}) {
        std::vector<muster::kube::arrival> made = take();
        if (made.empty() && patience > 0) {
            pass(std::min(patience, 100 * muster::kube::millisecond));
            made = take();
        }
        return made;
    }

    void pass(std::int64_t span) {
        time_.steady += span;
        time_.wall += span;
        store_->set_time(time_.wall);
    }
    [[nodiscard]] muster::kube::instant now() const { return time_; }

private:
    using api_request = muster::testing::api_server::request;

    struct stream {
        muster::testing::api_server::watch of;
        std::int64_t spoke = 0;
    };

    std::vector<muster::kube::arrival> take() {
        std::vector<muster::kube::arrival> made;
        if (cut_off)
            return made;
        for (auto& [number, what] : std::exchange(asked_, {})) {
            const mishap wrong = harm ? harm(what) : mishap::none;
            muster::kube::arrival done;
            done.of = number;
            if (wrong == mishap::not_sent || wrong == mishap::refused) {
                done.answer.fault = wrong == mishap::not_sent ? muster::kube::http_fault::not_sent
                                                              : muster::kube::http_fault::none;
                done.answer.status = wrong == mishap::refused ? 403 : 0;
                made.push_back(std::move(done));
                continue;
            }
            api_request asked;
            asked.method = std::string(muster::kube::to_text(what.method));
            asked.content_type = what.content_type;
            asked.body = what.body;
            read_target(what.path + (what.query.empty() ? "" : "?" + what.query), asked);
            auto answer = store_->handle(asked);
            if (wrong == mishap::lost) {
                done.answer.fault = muster::kube::http_fault::no_answer;
                done.answer.what = "lost";
            } else if (answer.opens) {
                // Each minute the watch says how far it has come.
                open_.emplace(number, stream{*answer.opens, time_.steady});
                done.is_part = true;
            } else {
                done.answer.status = answer.code;
                done.answer.body = boost::json::serialize(answer.body);
            }
            made.push_back(std::move(done));
        }
        for (auto& [number, watch] : open_) {
            muster::kube::arrival part;
            part.of = number;
            part.is_part = true;
            for (const std::string& line : store_->events(watch.of))
                part.part += line + (line.ends_with('\n') ? "" : "\n");
            if (!part.part.empty() || time_.steady - watch.spoke >= muster::kube::minute) {
                part.part += store_->bookmark(watch.of) + "\n";
                watch.spoke = time_.steady;
            }
            if (!part.part.empty())
                made.push_back(std::move(part));
        }
        return made;
    }

    muster::testing::api_server::api_store* store_;
    muster::kube::instant time_{0, 1'700'000'000 * muster::kube::second};
    std::uint64_t last_ = 0;
    std::vector<std::pair<std::uint64_t, muster::kube::http_request>> asked_;
    std::map<std::uint64_t, stream> open_;
};

} // namespace muster_test
