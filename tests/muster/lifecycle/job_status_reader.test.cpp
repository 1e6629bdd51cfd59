// SPDX-License-Identifier: Apache-2.0
#include <muster/lifecycle/job_status_reader.hpp>

#include <string>
#include <string_view>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/document/transition_id.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/lifecycle/status_document.hpp>

namespace codec_job_status_reader_test {

using namespace muster;
using lifecycle::condition_type;
using lifecycle::job_phase;
using lifecycle::job_status;
using lifecycle::replica_phase;

job_status read(const std::string& text, codec::diagnostics& out) {
    const auto documents = codec::read_documents("status.yaml", text, out);
    REQUIRE(documents.size() == 1);
    codec::object_reader root(documents[0], out);
    return codec::read_job_status(root);
}

job_status some_status() {
    job_status made;
    made.phase = job_phase::resuming;
    for (const condition_type type :
         {condition_type::initialized, condition_type::running, condition_type::paused})
        made.conditions.push_back({type, type != condition_type::running, "Reason", "message",
                                   lifecycle::transition_id("u", to_text(type), ""),
                                   1'700'000'000'000'000'000});
    lifecycle::task_status task;
    task.type = "worker";
    task.replicas = {{"j-worker-0", "u-0", replica_phase::running, 2, {}},
                     {"j-worker-1", "", replica_phase::creating, 0, {}},
                     {"j-worker-2", "u-2", replica_phase::failed, 0, {{"main", 3}}}};
    made.tasks = {task};
    made.restarts = 5;
    made.started = 1'600'000'000'000'000'000;
    return made;
}

TEST_CASE("what is written is read back, in the form of every kind") {
    using translate::t9k_kind;
    for (const t9k_kind kind : {t9k_kind::generic, t9k_kind::tensorflow, t9k_kind::pytorch,
                                t9k_kind::mpi, t9k_kind::deepspeed, t9k_kind::beam}) {
        CAPTURE(to_text(kind));
        const auto form = lifecycle::status_form_of(kind);
        job_status status = some_status();
        if (!form.backoff_count)
            status.restarts = 2; // the sum of the replicas that are there
        codec::diagnostics out;
        const job_status back = read(boost::json::serialize(status_document(status, form)), out);
        CHECK(out.findings().empty());
        CHECK(back == status);
    }
}

TEST_CASE("all spellings of Initialized are read, and conditions in any order") {
    for (const char* word : {"Initialized", "Initializing", "Initalized"}) {
        codec::diagnostics out;
        const job_status status =
            read("conditions: [{type: Failed, status: 'True'}, {type: " + std::string(word) +
                     ", status: 'True'}]",
                 out);
        CHECK(out.ok());
        REQUIRE(status.conditions.size() == 2);
        CHECK(status.conditions[0].type == condition_type::initialized);
        CHECK(status.conditions[1].type == condition_type::failed);
    }
}

TEST_CASE("replicas are read from either list") {
    for (const char* list : {"status", "replicas"}) {
        codec::diagnostics out;
        const job_status status = read("tasks: [{type: w, restartCount: 3, " + std::string(list) +
                                           ": [{phase: Deleted, name: a, restartCount: 3}]}]",
                                       out);
        CHECK(out.ok());
        CHECK(status.tasks.at(0).replicas.at(0).phase == replica_phase::deleted);
        CHECK(status.restarts == 3);
    }
}

TEST_CASE("what is wrong with a status is said of its field") {
    const auto fault = [](const std::string& text) {
        codec::diagnostics out;
        static_cast<void>(read(text, out));
        return out.findings().empty() ? std::string{} : out.findings()[0].path;
    };
    CHECK(fault("phase: Lost") == "phase");
    CHECK(fault("conditions: [{type: New, status: 'True'}]") == "conditions[0].type");
    CHECK(fault("conditions: [{type: Failed, status: 'Yes'}]") == "conditions[0].status");
    CHECK(fault("conditions: [{type: Failed, status: 'True'}, {type: Failed, status: 'True'}]") ==
          "conditions[1].type");
    CHECK(fault("tasks: [{type: w, status: [{phase: Gone}]}]") == "tasks[0].status[0].phase");
    CHECK(fault("tasks: [{type: w, status: [{phase: Failed, restartCount: -1}]}]") ==
          "tasks[0].status[0].restartCount");
    CHECK(fault("tasks: [{type: w, status: [], replicas: []}]") == "tasks[0].replicas");
}

} // namespace codec_job_status_reader_test
