// SPDX-License-Identifier: Apache-2.0
#include "jobs.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/apis/t9k/jobs/gang.hpp>
#include <muster/apis/t9k/jobs/job_reader.hpp>
#include <muster/apis/t9k/jobs/objects.hpp>
#include <muster/input/read_documents.hpp>

#include "cluster.hpp"
#include "figures.hpp"
#include "report.hpp"
#include "stopwatch.hpp"

namespace bench {

namespace {

std::string job_text(std::size_t number) {
    return R"~(---
apiVersion: batch.tensorstack.dev/v1beta1
kind: GenericJob
metadata:
  name: training-)~" +
           std::to_string(number) + R"~(
  namespace: lab
spec:
  successRules:
    - { "worker": [0] }
  failureRules:
    - { "worker": [0] }
    - { "worker": [1] }
  scheduler:
    t9kScheduler:
      queue: default
      priority: 10
  service:
    ports:
      - name: http
        port: 2222
  replicaSpecs:
    - type: worker
      replicas: 4
      restartPolicy: {policy: OnFailure, limit: 3}
      template:
        spec:
          containers:
            - name: tensorflow
              image: tensorflow/tensorflow:2.11.0
              command: [python, /mnt/training.py]
              env:
                - name: TASK
                  value: '{"type":"$(type)","index":$(rank),"ps":"$(service.ps[0].host):$(service.port[http])"}'
              resources:
                limits: {cpu: 4, memory: 4Gi}
                requests: {cpu: 2, memory: 2Gi}
              volumeMounts:
                - {mountPath: /dev/shm, name: dshm}
          volumes:
            - name: dshm
              emptyDir: {medium: Memory, sizeLimit: 1Gi}
    - type: ps
      replicas: 1
      template:
        spec:
          containers:
            - name: tensorflow
              image: tensorflow/tensorflow:2.11.0
              command: [python, /mnt/training.py]
              resources:
                limits: {cpu: 1, memory: 1Gi}
                requests: {cpu: 500m, memory: 1Gi}
)~";
}

/// Per document, the time of a visit to all of them: the sum of the least times of short stretches,
/// so that other work on the machine shows little.
template<class Visit>
double least(const std::vector<muster::codec::document>& documents, std::size_t runs,
             Visit&& visit) {
    constexpr std::size_t stretch = 20;
    double total = 0.0;
    muster::codec::diagnostics found;
    muster::codec::reading_context context;
    for (std::size_t first = 0; first < documents.size(); first += stretch) {
        const std::size_t last = std::min(first + stretch, documents.size());
        double best = 0.0;
        for (std::size_t run = 0; run < runs; ++run) {
            const double taken = stopwatch::time([&] {
                for (std::size_t at = first; at < last; ++at) {
                    muster::codec::object_reader object(documents[at], found);
                    visit(muster::codec::read_t9k_job(object, muster::translate::t9k_kind::generic,
                                                      context));
                }
            });
            best = run == 0 ? taken : std::min(best, taken);
        }
        total += best;
    }
    if (!found.ok() || found.warnings() > 0)
        fail("a job is not read without a finding");
    return total / static_cast<double>(documents.size());
}

} // namespace

jobs_report measure_jobs(std::size_t jobs, std::size_t runs) {
    jobs_report made;
    made.jobs = jobs;
    std::string text;
    for (std::size_t number = 0; number < jobs; ++number)
        text += job_text(number);
    made.bytes_per_job = text.size() / jobs;
    muster::codec::diagnostics found;
    std::vector<muster::codec::document> documents;
    made.yaml_ns = stopwatch::time([&] {
                       documents = muster::codec::read_documents("jobs.yaml", text, found);
                   }) /
                   static_cast<double>(jobs);
    if (documents.size() != jobs)
        fail("not all jobs are documents");
    std::int64_t members = 0;
    made.gang_ns = least(documents, runs, [&](const muster::translate::t9k_job& job) {
        members += muster::translate::gangs_of(job).front().tree[0].min_member;
    });
    made.pods_per_job = static_cast<std::size_t>(members) / jobs / runs;
    std::size_t objects = 0;
    made.objects_ns = least(documents, runs, [&](const muster::translate::t9k_job& job) {
        objects += muster::translate::objects_of(job).size();
    });
    if (objects != jobs * runs * (1 + 2 * made.pods_per_job))
        fail("a job has not as many objects as it should");
    return made;
}

void add_jobs(report& to, bool quick) {
    const jobs_report found = measure_jobs(quick ? 500 : 5000, quick ? 5 : 11);
    const std::string of =
        ", T9k jobs of " + std::to_string(found.pods_per_job) + " pods, one core";
    to.at_least("from document to gang" + of, "jobs/s", 1e9 / found.gang_ns, 100'000.0);
    to.at_least("from document to all objects" + of, "jobs/s", 1e9 / found.objects_ns, 10'000.0);
    to.orientation("from YAML text to document" + of, "jobs/s", 1e9 / found.yaml_ns);
    to.orientation("from YAML text to gang" + of, "jobs/s", 1e9 / (found.yaml_ns + found.gang_ns));
    to.detail("T9k jobs", {{"jobs", std::to_string(found.jobs)},
                           {"pods each", std::to_string(found.pods_per_job)},
                           {"bytes of YAML", std::to_string(found.bytes_per_job)},
                           {"YAML us", text(found.yaml_ns / 1e3)},
                           {"to gang us", text(found.gang_ns / 1e3)},
                           {"to all objects us", text(found.objects_ns / 1e3)}});
}

} // namespace bench
