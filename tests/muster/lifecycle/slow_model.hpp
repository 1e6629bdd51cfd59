// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// What a GenericJob is to do, once more and otherwise: no status is stored. Every answer is worked
/// out from all that was ever seen, by asking of each pod what became of it. Slow, and it shares
/// nothing with the code that it judges.
namespace slow_model {

constexpr int never = 1'000'000;

/// 'N'ever, on 'F'ailure, 'A'lways; a negative limit is none.
struct replica_type {
    std::string name;
    int size = 1;
    char policy = 'F';
    int limit = 0;
};

using rule = std::vector<std::pair<std::size_t, std::vector<int>>>;

struct job {
    std::vector<replica_type> types;
    std::vector<rule> success;
    std::vector<rule> failure;
    char clean_up = 'N'; ///< 'N'one, 'A'll, 'U'nfinished
    bool grouped = false;
    bool exposed = false;
};

/// Type and rank.
using replica = std::pair<std::size_t, int>;

/// Phase: 'P'ending, 'R'unning, 'S'ucceeded, 'F'ailed, 'U'nknown.
struct pod {
    replica of;
    int uid = 0;
    char phase = 'P';
    bool leaving = false;
    bool disrupted = false;
    int code = 0;
};

/// One look of the controller at the world.
struct look {
    bool paused = false;
    bool group = false;
    std::vector<pod> pods;
    std::set<replica> services;

    [[nodiscard]] const pod* find(int uid) const {
        for (const pod& each : pods)
            if (each.uid == uid)
                return &each;
        return nullptr;
    }
};

struct condition {
    bool is_true = false;
    std::string reason;
    std::string message;
    int changed = 0; ///< the number of the look

    bool operator==(const condition&) const = default;
};

/// Replica phases: those of pods, 'C'reating, 'D'eleted.
struct answer {
    std::string phase;
    std::map<replica, char> replicas;
    std::map<replica, int> restarts;
    std::map<std::string, condition> conditions;
    std::set<int> deletions;
    std::set<replica> pods;
    std::set<replica> services;
    bool group = false;
    bool resumed = false;
};

class model {
public:
    explicit model(job of) : job_(std::move(of)) {
        for (std::size_t type = 0; type < job_.types.size(); ++type)
            for (int rank = 0; rank < job_.types[type].size; ++rank)
                all_.insert({type, rank});
    }

    /// The answer to the newest look.
    answer look_again(look seen) {
        looks_.push_back(std::move(seen));
        const int k = static_cast<int>(looks_.size()) - 1;
        answer out;
        out.conditions = conditions_;
        if (end_ == never && !at(k).paused)
            active(k, out);
        else if (end_ == never)
            paused(k, out);
        else
            out.phase = ended_phase_;
        if (end_ != never)
            for (const replica& each : all_) {
                out.replicas[each] = phase_after_end(each, k);
                out.restarts[each] = restarts(each, end_ - 1);
            }
        conditions_ = out.conditions;
        for (const pod& each : at(k).pods)
            if (!each.leaving && out.replicas.at(each.of) == 'D')
                out.deletions.insert(each.uid);
        if (end_ == never)
            ask(k, out);
        return out;
    }

private:
    /// What became of a pod, looking at the looks up to `last`.
    struct fate {
        int ended = never;     ///< when it was seen to end by itself
        int condemned = never; ///< when it was decided, or seen, to go
        bool success = false;
    };

    [[nodiscard]] const look& at(int k) const { return looks_[static_cast<std::size_t>(k)]; }

    [[nodiscard]] fate fate_of(int uid, int last) const {
        fate out;
        for (int i = 0; i <= last; ++i) {
            const pod* seen = at(i).find(uid);
            if (seen == nullptr)
                continue;
            if (at(i).paused) {
                out.condemned = std::min(out.condemned, i);
                continue;
            }
            if (out.ended != never || out.condemned != never)
                continue;
            if (seen->leaving || (seen->phase == 'F' && seen->disrupted)) {
                out.condemned = i;
            } else if (seen->phase == 'S' || seen->phase == 'F') {
                out.ended = i;
                out.success = seen->phase == 'S';
            }
        }
        return out;
    }

    /// The pods of a replica in the order in which they were first seen.
    [[nodiscard]] std::vector<int> pods_of(const replica& of, int last) const {
        std::vector<int> uids;
        for (int i = 0; i <= last; ++i)
            for (const pod& each : at(i).pods)
                if (each.of == of && std::find(uids.begin(), uids.end(), each.uid) == uids.end())
                    uids.push_back(each.uid);
        return uids;
    }

    /// The pods that were restarted.
    [[nodiscard]] std::set<int> restarted(const replica& of, int last) const {
        const replica_type& type = job_.types[of.first];
        std::set<int> out;
        for (const int uid : pods_of(of, last)) {
            const fate its = fate_of(uid, last);
            if (its.ended == never || type.policy == 'N' || (type.policy == 'F' && its.success))
                continue;
            if (type.limit < 0 || static_cast<int>(out.size()) < type.limit)
                out.insert(uid);
        }
        return out;
    }
    [[nodiscard]] int restarts(const replica& of, int last) const {
        return static_cast<int>(restarted(of, last).size());
    }

    /// Of a job that is active in look k.
    [[nodiscard]] char phase_in(const replica& of, int k) const {
        const std::vector<int> uids = pods_of(of, k);
        if (uids.empty())
            return 'C';
        const std::set<int> again = restarted(of, k);
        const int uid = uids.back();
        const fate its = fate_of(uid, k);
        const pod* here = at(k).find(uid);
        const bool goes = its.condemned != never || again.count(uid) > 0;
        const char end = its.success ? 'S' : 'F';
        if (here != nullptr) {
            if (goes)
                return 'D';
            return its.ended != never ? end : here->phase;
        }
        if (goes || its.ended == never)
            return 'C';
        for (int i = its.ended + 1; i <= k; ++i)
            if (at(i).paused)
                return 'C';
        return end;
    }

    [[nodiscard]] char phase_after_end(const replica& of, int k) const {
        const pod* here = nullptr;
        for (const pod& each : at(k).pods)
            if (each.of == of)
                here = &each;
        if (here == nullptr)
            return 'D';
        const fate before = fate_of(here->uid, end_ - 1);
        if (before.condemned != never || restarted(of, end_ - 1).count(here->uid) > 0)
            return 'D';
        char phase = before.ended == never ? '?' : before.success ? 'S' : 'F';
        for (int i = end_; i <= k; ++i) {
            const pod* then = at(i).find(here->uid);
            if (then == nullptr)
                continue;
            if (phase != 'S' && phase != 'F')
                phase = then->leaving ? 'D' : then->phase;
            const bool over = phase == 'S' || phase == 'F';
            if (phase == 'D' || job_.clean_up == 'A' || (job_.clean_up == 'U' && !over))
                return 'D';
        }
        return phase;
    }

    void paused(int, answer& out) {
        const int k = static_cast<int>(looks_.size()) - 1;
        out.phase = "Paused";
        for (const replica& each : all_) {
            out.replicas[each] = 'D';
            out.restarts[each] = restarts(each, k);
        }
        for (const char* type : {"Running", "ReplicaFailure"})
            if (out.conditions.count(type) > 0)
                set(out, k, type, false, "Paused", "The job is paused.");
        set(out, k, "Paused", true, "Paused", "The job is paused.");
    }

    void active(int k, answer& out) {
        const auto set_all = [&](bool is_true, const char* type, const std::string& reason,
                                 const std::string& message) {
            set(out, k, type, is_true, reason, message);
        };
        bool all_up = true;
        bool unknown = false;
        bool creating = false;
        bool failed = false;
        const pod* first_failed = nullptr;
        const pod* first_lasting = nullptr;
        for (const replica& each : all_) {
            const char phase = phase_in(each, k);
            out.replicas[each] = phase;
            out.restarts[each] = restarts(each, k);
            all_up = all_up && (phase == 'R' || phase == 'S' || phase == 'F');
            unknown = unknown || phase == 'U';
            creating = creating || phase == 'C';
            failed = failed || phase == 'F';
            for (const pod& here : at(k).pods)
                if (here.of == each) {
                    const fate its = fate_of(here.uid, k);
                    if (its.ended != k || its.success)
                        continue;
                    if (first_failed == nullptr)
                        first_failed = &here;
                    if (first_lasting == nullptr && phase == 'F')
                        first_lasting = &here;
                }
        }
        const auto tell_of = [&](const pod* culprit) {
            set_all(true, "ReplicaFailure", "ErrorInPod",
                    "Pod[" + name(culprit->of) + "] exited with error code " +
                        std::to_string(culprit->code));
        };
        const std::string normal = "All pods are running normally.";
        const bool new_here = out.conditions.count("Initialized") == 0;
        if (const auto verdict = decide(out)) {
            const bool success = verdict->empty();
            end_ = k;
            ended_phase_ = success ? "Succeeded" : "Failed";
            out.phase = ended_phase_;
            const std::string reason = ended_phase_;
            const std::string message = success ? "The job has finished successfully." : *verdict;
            if (new_here)
                set_all(true, "Initialized", "-", "The job has been initialized successfully.");
            set_all(false, "Running", reason, message);
            set_all(success, "Completed", reason, message);
            set_all(!success, "Failed", reason, message);
            if (out.conditions.count("Paused") > 0)
                set_all(false, "Paused", reason, message);
            if (success) {
                set_all(false, "ReplicaFailure", reason, message);
            } else {
                if (first_lasting != nullptr)
                    tell_of(first_lasting);
                if (!failed)
                    set_all(false, "ReplicaFailure", "-", normal);
            }
            return;
        }
        if (new_here && !creating && (!job_.grouped || at(k).group) &&
            (!job_.exposed || at(k).services == all_))
            set_all(true, "Initialized", "-", "The job has been initialized successfully.");
        if (first_failed != nullptr)
            tell_of(first_failed);
        else if (all_up && !failed)
            set_all(false, "ReplicaFailure", "-", normal);
        if (all_up) {
            set_all(true, "Running", "-", normal);
            if (out.conditions.count("Paused") > 0)
                set_all(false, "Paused", "-", "The job has been resumed.");
            ran_ = k;
        }
        int last_pause = -1;
        for (int i = 0; i < k; ++i)
            if (at(i).paused)
                last_pause = i;
        if (unknown)
            out.phase = "Unknown";
        else if (ran_ > last_pause)
            out.phase = "Running";
        else
            out.phase = last_pause >= 0 ? "Resuming" : "Pending";
    }

    void set(answer& out, int k, const char* type, bool is_true, const std::string& reason,
             const std::string& message) const {
        const auto found = out.conditions.find(type);
        const bool same = found != out.conditions.end() && found->second.is_true == is_true;
        out.conditions[type] = {is_true, reason, message, same ? found->second.changed : k};
    }

    [[nodiscard]] static bool all(const answer& of, const rule& which, char phase) {
        for (const auto& [type, ranks] : which)
            for (const int rank : ranks)
                if (of.replicas.at({type, rank}) != phase)
                    return false;
        return true;
    }
    [[nodiscard]] static bool any(const answer& of, const rule& which, char phase) {
        for (const auto& [type, ranks] : which)
            for (const int rank : ranks)
                if (of.replicas.at({type, rank}) == phase)
                    return true;
        return false;
    }

    /// Nothing, "" for success, or the message of the failure.
    [[nodiscard]] std::optional<std::string> decide(const answer& of) const {
        std::vector<rule> success = job_.success;
        if (success.empty()) {
            rule everybody;
            for (std::size_t type = 0; type < job_.types.size(); ++type) {
                everybody.push_back({type, {}});
                for (int rank = 0; rank < job_.types[type].size; ++rank)
                    everybody.back().second.push_back(rank);
            }
            success.push_back(everybody);
        }
        for (const rule& each : success)
            if (all(of, each, 'S'))
                return "";
        for (const rule& each : job_.failure)
            if (all(of, each, 'F'))
                return "The job is failed with rule: " + text(each);
        if (!job_.failure.empty())
            return std::nullopt;
        for (const rule& each : success)
            if (!any(of, each, 'F'))
                return std::nullopt;
        return "The job is failed because no success rule can be met any more.";
    }

    [[nodiscard]] std::string text(const rule& which) const {
        std::string out;
        for (const auto& [type, ranks] : which) {
            std::string list;
            for (const int rank : ranks)
                list += (list.empty() ? "" : ", ") + std::to_string(rank);
            out += (out.empty() ? "\"" : ", \"") + job_.types[type].name + "\": [" + list + "]";
        }
        return "{ " + out + " }";
    }

    [[nodiscard]] std::string name(const replica& of) const {
        return "j-" + job_.types[of.first].name + "-" + std::to_string(of.second);
    }

    void ask(int k, answer& out) const {
        out.group = job_.grouped && !at(k).group;
        for (const replica& each : all_) {
            if (job_.exposed && at(k).services.count(each) == 0)
                out.services.insert(each);
            const bool here = std::any_of(at(k).pods.begin(), at(k).pods.end(),
                                          [&](const pod& pod) { return pod.of == each; });
            if (!here && out.replicas.at(each) == 'C')
                out.pods.insert(each);
        }
        for (int i = 0; i <= k; ++i)
            out.resumed = out.resumed || at(i).paused;
    }

    job job_;
    std::set<replica> all_;
    std::vector<look> looks_;
    std::map<std::string, condition> conditions_;
    int end_ = never;
    int ran_ = -1;
    std::string ended_phase_;
};

} // namespace slow_model
