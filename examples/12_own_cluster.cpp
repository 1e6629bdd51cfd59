// SPDX-License-Identifier: Apache-2.0
// muster: testing
// Muster's driver on a cluster of your own. The farm stores machines, jobs and tasks, which are
// nodes, gangs and pods for Muster. Its client, farm_cluster, reads it every 300 ms and sends the
// driver's orders. The driver starts a job although the farm is busy once and one of its answers is
// lost. Then the conformance suite checks this client, and one that breaks a rule.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/adapter/driver.hpp>
#include <muster/testing/cluster_conformance.hpp>

// ---- the farm -----------------------------------------------------------------------------------

namespace farm {

struct job_status {
    bool started = false; // all of its tasks ran once
    std::int64_t running = 0, waiting = 0;
    friend bool operator==(const job_status&, const job_status&) = default;
};
struct job {
    std::string id;
    std::int64_t tasks = 0;
    job_status status{};
};
struct task {
    std::string id, job;
    std::int64_t gpus = 0;
    bool ours = true;                     // else another scheduler starts it
    std::optional<std::string> machine{}; // absent: waits
};

/// The answers of the farm. After `busy`, nothing was done; after `lost`, the client does not know.
enum class reply : std::uint8_t { done, not_found, other_id, has_machine, busy, lost };

struct server {
    std::int64_t time = 0;                        // nanoseconds
    std::map<std::string, std::int64_t> machines; // GPUs by name
    std::map<std::string, job> jobs;
    std::map<std::string, task> tasks;
    std::deque<reply> faults; // of the next calls of start; `done` for none
    int ids = 0;

    std::string new_id() { return "id" + std::to_string(++ids); }
    void put_job(const std::string& name, std::int64_t tasks_needed) {
        jobs.try_emplace(name, job{new_id()}).first->second.tasks = tasks_needed;
    }
    void create_task(const std::string& name, const std::string& of, std::int64_t gpus, bool ours) {
        tasks[name] = {new_id(), of, gpus, ours};
    }
    reply start(const std::string& name, const std::string& id, const std::string& machine) {
        const reply fault = faults.empty() ? reply::done : faults.front();
        if (!faults.empty())
            faults.pop_front();
        if (fault == reply::busy)
            return fault;
        if (const reply found = find(tasks, name, id); found != reply::done)
            return found;
        if (tasks.at(name).machine)
            return reply::has_machine;
        tasks.at(name).machine = machine;
        return fault;
    }
    reply stop(const std::string& name, const std::string& id) {
        const reply found = find(tasks, name, id);
        if (found == reply::done)
            tasks.erase(name);
        return found;
    }
    reply write(const std::string& name, const std::string& id, const job_status& status) {
        const reply found = find(jobs, name, id);
        if (found == reply::done)
            jobs.at(name).status = status;
        return found;
    }
    /// Names are reused, ids are not.
    template<class Row>
    static reply find(const std::map<std::string, Row>& rows, const std::string& name,
                      const std::string& id) {
        const auto row = rows.find(name);
        return row == rows.end()      ? reply::not_found
               : row->second.id == id ? reply::done
                                      : reply::other_id;
    }
};

} // namespace farm

namespace {

// ---- its client: what the driver needs ----------------------------------------------------------

namespace adapter = muster::adapter;
using adapter::outcome;
constexpr muster::kind_id gpu{0};

outcome outcome_of(farm::reply from) {
    switch (from) {
    case farm::reply::done:
        return outcome::applied;
    case farm::reply::not_found:
        return outcome::gone;
    case farm::reply::other_id:
        return outcome::replaced;
    case farm::reply::has_machine:
        return outcome::conflict;
    case farm::reply::busy:
        return outcome::transient; // the driver retries
    case farm::reply::lost:
        break;
    }
    return outcome::unknown; // the driver asks where the task is
}

farm::job_status status_of(const adapter::gang_status& status) {
    return {status.reached, status.running, status.waiting};
}

class farm_cluster {
public:
    using traits = muster::string_traits<4>;
    using view_type = adapter::cluster_view<traits>;
    static constexpr std::int64_t read_every = 300 * adapter::millisecond;

    farm_cluster(farm::server& server, bool prints) : server_(&server), prints_(prints) {}

    /// The time at which the next answer or reading is due, in nanoseconds.
    [[nodiscard]] std::int64_t next() const {
        return results_.empty() ? next_read_ : server_->time;
    }

    [[nodiscard]] adapter::instant now() const {
        return {server_->time, server_->time / adapter::second};
    }
    /// There is no leader election here.
    [[nodiscard]] static bool may_write() { return true; }

    /// Reports all objects. A client that receives changes would report only these.
    adapter::view_status observe(view_type& view) {
        const bool reads = server_->time >= next_read_;
        if (reads) {
            next_read_ = server_->time + read_every;
            report_machines(view);
            report_jobs(view);
            report_tasks(view);
        }
        return {.synced = true, .changed = reads, .as_of = next_read_ - read_every, .term = 1};
    }
    void relist() { next_read_ = server_->time; }

    void bind(std::span<const adapter::bind_order<traits>> all) {
        for (const auto& order : all)
            answer({order.of, outcome_of(server_->start(order.pod, order.uid, order.node))},
                   "start " + order.pod + " on " + order.node);
    }
    void evict(std::span<const adapter::evict_order<traits>> all) {
        for (const auto& order : all)
            answer({order.of, outcome_of(server_->stop(order.pod, order.uid))},
                   "stop " + order.pod);
    }
    void patch_status(std::span<const adapter::status_order<traits>> all) {
        for (const auto& order : all) {
            const farm::job_status status = status_of(order.status);
            answer({order.of, outcome_of(server_->write(order.gang, order.uid, status))},
                   "write " + order.gang + ": " + std::to_string(status.running) + " run, " +
                       std::to_string(status.waiting) + " wait");
        }
    }
    [[nodiscard]] bool would_change(const std::string& gang,
                                    const adapter::gang_status& status) const {
        const auto seen = seen_jobs_.find(gang);
        return seen != seen_jobs_.end() && seen->second.status != status_of(status);
    }
    // The farm has no volumes, gates or events.
    void prepare(std::span<const adapter::prepare_order<traits>> all) { nothing_to_do(all); }
    void ungate(std::span<const adapter::ungate_order<traits>> all) { nothing_to_do(all); }
    void record_event(std::span<const adapter::event_order<traits>> all) { nothing_to_do(all); }

    void where_is(std::span<const adapter::where_is_order<traits>> all) {
        for (const auto& order : all) {
            adapter::order_result<traits> result{order.of, outcome::applied};
            result.what = outcome_of(farm::server::find(server_->tasks, order.pod, order.uid));
            if (result.what == outcome::applied)
                result.on = server_->tasks.at(order.pod).machine;
            const std::string on = result.on.value_or("nowhere");
            answer(std::move(result), "ask where " + order.pod + " is: " + on);
        }
    }
    void is_current(std::span<const adapter::is_current_order<traits>> all) {
        for (const auto& order : all) {
            outcome what = outcome_of(farm::server::find(server_->jobs, order.gang, order.uid));
            if (what == outcome::applied &&
                seen_jobs_[order.gang].tasks != server_->jobs.at(order.gang).tasks)
                what = outcome::conflict;
            answer({order.of, what}, "check that " + order.gang + " is as read");
        }
    }
    void take_results(std::vector<adapter::order_result<traits>>& into) {
        std::ranges::move(std::exchange(results_, {}), std::back_inserter(into));
    }

    /// A fresh listing, with which the driver compares its view from time to time.
    void ask_listing() { lists_ = true; }
    bool take_listing(adapter::listing<traits>& into) {
        if (!std::exchange(lists_, false))
            return false;
        into = {};
        for (const auto& [name, gpus] : server_->machines)
            into.nodes.push_back(name);
        for (const auto& [name, job] : server_->jobs)
            into.gangs.emplace_back(name, job.id);
        for (const auto& [name, task] : server_->tasks)
            into.pods.push_back({name, task.id, task.machine, false, task.ours});
        return true;
    }

private:
    void report_machines(view_type& view) const {
        view.begin_listing(adapter::object_kind::node);
        for (const auto& [name, gpus] : server_->machines) {
            muster::node<4> spec;
            spec.allocatable[gpu] = gpus;
            view.node(name, spec);
        }
        view.end_listing(adapter::object_kind::node);
    }
    void report_jobs(view_type& view) {
        seen_jobs_ = server_->jobs;
        view.begin_listing(adapter::object_kind::gang);
        for (const auto& [name, job] : seen_jobs_) {
            adapter::seen_gang<traits> seen;
            seen.uid = job.id;
            seen.spec.tree = muster::single_role(job.tasks);
            seen.reached = job.status.started;
            view.gang(name, std::move(seen));
        }
        view.end_listing(adapter::object_kind::gang);
    }
    void report_tasks(view_type& view) const {
        view.begin_listing(adapter::object_kind::pod);
        for (const auto& [name, task] : server_->tasks) {
            adapter::seen_pod<traits> seen;
            seen.uid = task.id;
            seen.gang = task.ours ? task.job : "alone: " + name;
            seen.spec.request[gpu] = task.gpus;
            seen.spec.phase =
                task.machine ? muster::pod_phase::running : muster::pod_phase::pending;
            seen.on = task.machine;
            seen.ours = task.ours;
            view.pod(name, seen);
        }
        view.end_listing(adapter::object_kind::pod);
    }

    template<class Order>
    void nothing_to_do(std::span<const Order> all) {
        for (const Order& order : all)
            results_.push_back({order.of, outcome::applied});
    }
    void answer(adapter::order_result<traits> result, const std::string& order) {
        const char* trouble = result.what == outcome::applied     ? ""
                              : result.what == outcome::transient ? ": the farm is busy"
                              : result.what == outcome::unknown   ? ": the answer is lost"
                                                                  : ": not done";
        if (prints_)
            std::printf("%5d ms  %s%s\n", int(server_->time / adapter::millisecond), order.c_str(),
                        trouble);
        results_.push_back(std::move(result));
    }

    farm::server* server_;
    bool prints_;
    bool lists_ = false;
    std::int64_t next_read_ = 0;
    std::map<std::string, farm::job> seen_jobs_; // as read last
    std::vector<adapter::order_result<traits>> results_;
};

// ---- the driver ---------------------------------------------------------------------------------

bool run_a_job() {
    farm::server server;
    farm_cluster cluster(server, true);
    muster::state<farm_cluster::traits> known;
    adapter::driver<farm_cluster> driver(cluster, known);
    const auto run_until = [&](std::int64_t end) {
        while (server.time < end) {
            const std::int64_t next = std::min(driver.step().next, cluster.next());
            server.time = std::clamp(next, server.time + 1, end); // a real clock: wait for `next`
        }
    };

    std::printf("A machine of 4 GPUs, and a job of 3 tasks of 2 GPUs.\n");
    server.machines["m1"] = 4;
    server.put_job("train", 3);
    for (const char* name : {"train-0", "train-1", "train-2"})
        server.create_task(name, "train", 2, true);
    run_until(1 * adapter::second);
    std::printf("Another machine.\n");
    server.machines["m2"] = 4;
    server.faults = {farm::reply::done, farm::reply::busy, farm::reply::lost};
    run_until(5 * adapter::second);
    return server.jobs.at("train").status == farm::job_status{true, 3, 0};
}

// ---- the conformance suite ----------------------------------------------------------------------

/// Breaks a rule: starts the task that has the name now, even if the order names another id.
struct careless_cluster : farm_cluster {
    careless_cluster(farm::server& server, bool prints)
        : farm_cluster(server, prints), tasks(&server.tasks) {}
    void bind(std::span<const adapter::bind_order<traits>> all) {
        for (adapter::bind_order<traits> order : all) {
            if (tasks->contains(order.pod))
                order.uid = tasks->at(order.pod).id;
            farm_cluster::bind({&order, 1});
        }
    }
    const std::map<std::string, farm::task>* tasks;
};

/// A farm with its client, and the actions of others on the farm.
template<class Cluster>
class farm_world {
public:
    using cluster_type = Cluster;
    using traits = farm_cluster::traits;

    Cluster& cluster() { return cluster_; }
    static muster::state<traits> make_state() { return {}; }
    // The driver's keys are the farm's names.
    static std::string pod(const std::string& name) { return name; }
    static std::string node(const std::string& name) { return name; }
    static std::string gang(const std::string& name) { return name; }

    void put_node(const std::string& name, std::int64_t gpus) { server_.machines[name] = gpus; }
    void put_gang(const std::string& name, std::int64_t minimum) { server_.put_job(name, minimum); }
    void create_pod(const std::string& name, const std::string& of, bool ours) {
        server_.create_task(name, of, 1, ours);
    }
    void delete_pod(const std::string& name) { server_.tasks.erase(name); }
    std::string uid_of(const std::string& name) { return server_.tasks.at(name).id; }
    std::string node_of(const std::string& name) {
        return server_.tasks.contains(name) ? server_.tasks.at(name).machine.value_or("") : "";
    }
    void bind_elsewhere(const std::string& name, const std::string& node) {
        server_.tasks.at(name).machine = node;
    }
    bool lose_next_answer() {
        server_.faults = {farm::reply::lost};
        return true;
    }
    void wait() { server_.time += farm_cluster::read_every; }

private:
    farm::server server_;
    Cluster cluster_{server_, false};
};

/// Returns the number of rules that the cluster breaks.
template<class Cluster>
int check_rules(const char* name) {
    using suite = muster::testing::cluster_conformance<farm_world<Cluster>>;
    int broken = 0;
    const auto rules = suite::rules();
    for (const auto& rule : rules) {
        farm_world<Cluster> world;
        const std::vector<std::string> faults = suite::check(rule, world);
        if (faults.empty())
            continue;
        ++broken;
        std::printf("%s breaks a rule: %s\n", name, rule.name);
        for (const std::string& fault : faults)
            std::printf("  %s\n", fault.c_str());
    }
    std::printf("%s keeps %d of %d rules\n", name, int(rules.size()) - broken, int(rules.size()));
    return broken;
}

} // namespace

int main() {
    const bool runs = run_a_job();
    const int broken = check_rules<farm_cluster>("farm_cluster");
    const int broken_carelessly = check_rules<careless_cluster>("careless_cluster");
    return runs && broken == 0 && broken_carelessly == 1 ? 0 : 1;
}
