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

/// What a T9k job is to do, once more and otherwise: no status is stored. Every answer is worked
/// out from all that was ever seen, by asking of each pod what became of it. Slow, and it shares
/// nothing with the code that it judges.
namespace slow_model {

constexpr int never = 1'000'000;

/// 'N'ever, on 'F'ailure, 'A'lways, after an 'E'xit code that says killed; a negative limit is
/// none.
struct replica_type {
    std::string name;
    int size = 1;
    char policy = 'F';
    int limit = 0;
    char clean_up = 'N';            ///< 'N'one, 'A'll, 'U'nfinished
    int services = 0;               ///< of the first ones
    bool late = false;              ///< asked for when all others run
    std::vector<std::string> names; ///< of pods, by rank; as many as there may be
};

using rule = std::vector<std::pair<std::size_t, std::vector<int>>>;

struct job {
    std::vector<replica_type> types;
    std::vector<rule> success;
    std::vector<rule> failure;
    bool grouped = false;
    bool configured = false;
    // Beside GenericJobs:
    std::optional<std::pair<std::size_t, int>> master; ///< its end is the job's
    bool any_fails = false; ///< of MPI: the failure of anybody else's, too
    int budget = -1;        ///< restarts of all together
    int deadline = -1;      ///< looks since the start
    int least = -1;         ///< how many must run; all
    bool cluster = false;   ///< conditions of a BeamJob
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
    bool config = false;
    std::vector<int> sizes; ///< of all types
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
    bool config = false;
    bool resumed = false;
};

class model {
public:
    explicit model(job of) : job_(std::move(of)) {}

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
            for (const replica& each : all(k)) {
                out.replicas[each] = phase_after_end(each, k);
                out.restarts[each] = restarts(each, k, end_ - 1);
            }
        conditions_ = out.conditions;
        for (const pod& each : at(k).pods)
            if (!each.leaving && (!exists(each.of, k) || out.replicas.at(each.of) == 'D'))
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
        int code = 0;
    };

    [[nodiscard]] const look& at(int k) const { return looks_[static_cast<std::size_t>(k)]; }

    [[nodiscard]] bool exists(const replica& of, int k) const {
        return of.second < at(k).sizes[of.first];
    }
    [[nodiscard]] std::set<replica> all(int k) const {
        std::set<replica> out;
        for (std::size_t type = 0; type < job_.types.size(); ++type)
            for (int rank = 0; rank < at(k).sizes[type]; ++rank)
                out.insert({type, rank});
        return out;
    }
    /// The look since which a replica exists without a break: what was scaled away is forgotten.
    [[nodiscard]] int since(const replica& of, int k) const {
        while (k > 0 && exists(of, k - 1))
            --k;
        return k;
    }

    [[nodiscard]] fate fate_of(int uid, int first, int last) const {
        fate out;
        for (int i = first; i <= last; ++i) {
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
                out.code = seen->code;
            }
        }
        return out;
    }

    /// The newest pod of a replica that was seen.
    [[nodiscard]] std::optional<int> newest(const replica& of, int last) const {
        std::optional<int> uid;
        std::set<int> known;
        for (int i = since(of, last); i <= last; ++i)
            for (const pod& each : at(i).pods)
                if (each.of == of && known.insert(each.uid).second)
                    uid = each.uid;
        return uid;
    }

    [[nodiscard]] static bool says_killed(int code) {
        return code == 130 || code == 137 || code == 138 || code == 143;
    }

    /// One that was started again: when, who and which pod.
    struct restart {
        int when = 0;
        replica of;
        int uid = 0;
    };

    [[nodiscard]] std::vector<restart> all_restarts(int last) const {
        std::vector<restart> out;
        for (int i = 0; i <= last; ++i) {
            if (at(i).paused)
                continue;
            for (const replica& of : all(i)) {
                const replica_type& type = job_.types[of.first];
                int own = 0;
                for (const restart& each : out)
                    own += each.of == of && each.when >= since(of, i) ? 1 : 0;
                for (const pod& each : at(i).pods) {
                    if (each.of != of)
                        continue;
                    const fate its = fate_of(each.uid, since(of, i), i);
                    const bool wants =
                        type.policy == 'A' || (type.policy == 'F' && !its.success) ||
                        (type.policy == 'E' && !its.success && says_killed(its.code));
                    if (its.ended == i && wants && (type.limit < 0 || own < type.limit) &&
                        (job_.budget < 0 || static_cast<int>(out.size()) < job_.budget))
                        out.push_back({i, of, each.uid});
                }
            }
        }
        return out;
    }

    /// The pods of a replica that were followed by another, as look k knows it.
    [[nodiscard]] std::set<int> restarted(const replica& of, int k, int last) const {
        std::set<int> out;
        for (const restart& each : all_restarts(last))
            if (each.of == of && each.when >= since(of, k))
                out.insert(each.uid);
        return out;
    }
    [[nodiscard]] int restarts(const replica& of, int k, int last) const {
        return static_cast<int>(restarted(of, k, last).size());
    }

    /// Of a job that is active in look k.
    [[nodiscard]] char phase_in(const replica& of, int k) const {
        const auto newest_uid = newest(of, k);
        if (!newest_uid)
            return 'C';
        const std::set<int> again = restarted(of, k, k);
        const int uid = *newest_uid;
        const fate its = fate_of(uid, since(of, k), k);
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
        const fate before = fate_of(here->uid, since(of, k), end_ - 1);
        if (before.condemned != never || restarted(of, k, end_ - 1).count(here->uid) > 0)
            return 'D';
        char phase = before.ended == never ? '?' : before.success ? 'S' : 'F';
        for (int i = end_; i <= k; ++i) {
            const pod* then = at(i).find(here->uid);
            if (then == nullptr)
                continue;
            if (phase != 'S' && phase != 'F')
                phase = then->leaving ? 'D' : then->phase;
            const bool over = phase == 'S' || phase == 'F';
            const char clean_up = job_.types[of.first].clean_up;
            if (phase == 'D' || clean_up == 'A' || (clean_up == 'U' && !over))
                return 'D';
        }
        return phase;
    }

    void paused(int, answer& out) {
        const int k = static_cast<int>(looks_.size()) - 1;
        out.phase = "Paused";
        for (const replica& each : all(k)) {
            out.replicas[each] = 'D';
            out.restarts[each] = restarts(each, k, k);
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
        int up = 0;
        bool others_run = true;
        bool late_runs = false;
        bool unknown = false;
        bool creating = false;
        bool leaving = false;
        bool failed = false;
        const pod* first_failed = nullptr;
        const pod* first_lasting = nullptr;
        for (const replica& each : all(k)) {
            const char phase = phase_in(each, k);
            out.replicas[each] = phase;
            out.restarts[each] = restarts(each, k, k);
            up += phase == 'R' || phase == 'S' || phase == 'F' ? 1 : 0;
            const bool late = job_.types[each.first].late;
            others_run = others_run && (late || phase == 'R');
            late_runs = late_runs || (late && phase == 'R');
            unknown = unknown || phase == 'U';
            creating = creating || phase == 'C';
            leaving = leaving || phase == 'D';
            failed = failed || phase == 'F';
            for (const pod& here : at(k).pods)
                if (here.of == each) {
                    const fate its = fate_of(here.uid, since(each, k), k);
                    if (its.ended != k || its.success)
                        continue;
                    if (first_failed == nullptr)
                        first_failed = &here;
                    if (first_lasting == nullptr && phase == 'F')
                        first_lasting = &here;
                }
        }
        const bool all_up = up >= (job_.least < 0 ? static_cast<int>(all(k).size()) : job_.least);
        int last_pause = -1;
        for (int i = 0; i < k; ++i)
            if (at(i).paused)
                last_pause = i;
        const auto tell_cluster = [&](const char* type, bool runs) {
            if (runs || out.conditions.count(type) > 0)
                set_all(runs, type, "", "");
        };
        const auto tell_of = [&](const pod* culprit) {
            set_all(true, "ReplicaFailure", "ErrorInPod",
                    "Pod[" + name(culprit->of) + "] exited with error code " +
                        std::to_string(culprit->code));
        };
        const std::string normal = "All pods are running normally.";
        const bool new_here = out.conditions.count("Initialized") == 0;
        auto verdict = decide(out);
        if (!verdict && job_.deadline >= 0 && k - last_pause - 1 >= job_.deadline)
            verdict = "The job is failed because it was active for longer than " +
                      std::to_string(job_.deadline) + " seconds.";
        if (verdict) {
            const bool success = verdict->empty();
            end_ = k;
            ended_phase_ = success ? "Succeeded" : "Failed";
            out.phase = ended_phase_;
            if (job_.cluster) {
                tell_cluster("ClusterRunning", others_run);
                return tell_cluster("JobRunning", false);
            }
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
        if (all_up || late_runs)
            ran_ = k;
        out.phase = unknown             ? "Unknown"
                    : ran_ > last_pause ? "Running"
                    : last_pause >= 0   ? "Resuming"
                                        : "Pending";
        if (job_.cluster) {
            tell_cluster("ClusterRunning", others_run);
            return tell_cluster("JobRunning", late_runs);
        }
        if (new_here && !creating && (!job_.grouped || at(k).group) &&
            (!job_.configured || at(k).config) && missing_services(k).empty())
            set_all(true, "Initialized", "-", "The job has been initialized successfully.");
        if (first_failed != nullptr)
            tell_of(first_failed);
        else if (all_up && !failed && !creating && !leaving)
            set_all(false, "ReplicaFailure", "-", normal);
        if (all_up) {
            set_all(true, "Running", "-", normal);
            if (out.conditions.count("Paused") > 0)
                set_all(false, "Paused", "-", "The job has been resumed.");
        }
    }

    [[nodiscard]] std::set<replica> missing_services(int k) const {
        std::set<replica> out;
        for (std::size_t type = 0; type < job_.types.size(); ++type)
            for (int rank = 0; rank < job_.types[type].services && exists({type, rank}, k); ++rank)
                if (at(k).services.count({type, rank}) == 0)
                    out.insert({type, rank});
        return out;
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
        if (job_.master) {
            if (of.replicas.at(*job_.master) == 'S')
                return "";
            if (of.replicas.at(*job_.master) == 'F')
                return "The job is failed because Pod[" + name(*job_.master) + "] failed.";
            for (const auto& [who, phase] : of.replicas)
                if (job_.any_fails && phase == 'F')
                    return "The job is failed because Pod[" + name(who) + "] failed.";
            return std::nullopt;
        }
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
        return job_.types[of.first].names[static_cast<std::size_t>(of.second)];
    }

    void ask(int k, answer& out) const {
        out.group = job_.grouped && !at(k).group;
        out.config = job_.configured && !at(k).config;
        out.services = missing_services(k);
        bool others_run = true;
        for (const auto& [who, phase] : out.replicas)
            others_run = others_run && (job_.types[who.first].late || phase == 'R');
        for (const replica& each : all(k)) {
            const bool here = std::any_of(at(k).pods.begin(), at(k).pods.end(),
                                          [&](const pod& pod) { return pod.of == each; });
            if (!here && out.replicas.at(each) == 'C' &&
                (others_run || !job_.types[each.first].late))
                out.pods.insert(each);
        }
        for (int i = 0; i <= k; ++i)
            out.resumed = out.resumed || at(i).paused;
    }

    job job_;
    std::vector<look> looks_;
    std::map<std::string, condition> conditions_;
    int end_ = never;
    int ran_ = -1;
    std::string ended_phase_;
};

} // namespace slow_model
