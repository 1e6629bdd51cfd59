// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/job_request.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/slurm/script_text.hpp>

namespace codec_slurm_job_request_test {

using namespace codec_slurm_tests;
using namespace muster::codec::slurm;

namespace {
using names = std::vector<std::string>;

std::string error(const std::string& options) {
    return request_of(options).findings;
}
} // namespace

TEST_CASE("options are read in the units of sbatch") {
    const auto [asked, findings] = request_of(
        "-N2-4 -n16 --ntasks-per-node=8 -c4 --mem-per-cpu=2G --gres=gpu:a100:4 -t 1-0 --tmp=5G "
        "--mincpus=9 -w n[1-2] -x n9 --exclusive -C ib --prefer=fast --container-image=r\\#i:1");
    CHECK(findings.empty());
    CHECK(asked.nodes == node_count{2, 4, false});
    CHECK(asked.tasks == 16);
    CHECK(asked.tasks_per_node == 8);
    CHECK(asked.cpus_per_task == 4);
    CHECK(asked.memory_per == memory_unit::cpu);
    CHECK(asked.mebibytes == 2048);
    CHECK(asked.gpus_per_node == gpu_request{4, "a100", false});
    CHECK(asked.seconds == 86400);
    CHECK(asked.disk_mebibytes == 5120);
    CHECK(asked.cpus_per_node == 9);
    CHECK(asked.hosts == names{"n1", "n2"});
    CHECK(asked.excluded == names{"n9"});
    CHECK(asked.exclusive);
    CHECK(asked.features.any_of == std::vector<names>{{"ib"}});
    CHECK(asked.preferred.any_of == std::vector<names>{{"fast"}});
    CHECK(asked.image == "r/i:1");
    CHECK(asked.waits.empty());
}

TEST_CASE("options that say nothing of placement and start give no message") {
    const auto [asked, findings] =
        request_of("-o x -e y -i z -D /d --mail-type=ALL --mail-user=me --comment=c --export=ALL "
                   "--requeue --no-kill --wait-all-nodes=1 -m block:cyclic --signal=B:USR1@60 "
                   "--open-mode=append --begin=now --gres-flags=disable-binding "
                   "--hint=multithread --container-mounts=/a:/b -A lab --time-min=5");
    CHECK(findings.empty());
    CHECK(asked.waits.empty());
}

TEST_CASE("what is not modelled makes the job wait, with a warning") {
    for (const std::string option : {"--dependency=afterok:1",
                                     "--begin=16:00",
                                     "--deadline=tomorrow",
                                     "--reservation=r",
                                     "--licenses=l:2",
                                     "--contiguous",
                                     "--hold",
                                     "--hint=nomultithread",
                                     "--ntasks-per-core=1",
                                     "--threads-per-core=1",
                                     "--gres=nic:1",
                                     "--gres=gpu:a:1,gpu:b:1",
                                     "--gpus=a:1,b:1",
                                     "--exclusive=user",
                                     "--mem=0",
                                     "--constraint=[a*2&b*1]",
                                     "--nodelist=./hosts",
                                     "--exclude=/hosts",
                                     "--nodefile=hosts",
                                     "--clusters=all",
                                     "--gres-flags=enforce-binding",
                                     "--tres-per-task=license/x=1",
                                     "--segment=4"}) {
        const auto [asked, findings] = request_of(option);
        const std::string name = option.substr(2, option.find('=') - 2);
        CAPTURE(option);
        CHECK(asked.waits == names{name});
        CHECK(findings.find("f:2:9: warning: --" + name + ": ") == 0);
        CHECK(findings.find("so the job waits (scheduling gate slurm.muster.dev/" + name + ")\n") !=
              std::string::npos);
    }
}

TEST_CASE("all memory of a node that is the job's alone is there") {
    CHECK(request_of("--mem=0 --exclusive").asked.waits.empty());
}

TEST_CASE("preferences that are not modelled are warnings") {
    for (const std::string option : {"--switches=1@10", "--spread-job", "--prefer=[a*2]"}) {
        const auto [asked, findings] = request_of(option);
        CHECK(asked.waits.empty());
        CHECK(findings.find(" ignored\n") != std::string::npos);
    }
}

TEST_CASE("a value that sbatch would refuse is an error with what was expected") {
    CHECK(error("--mem=4Q") == "f:2:9: --mem: \"4Q\" is not a size (expected a whole number, with "
                               "K, M, G or T behind it)\n");
    CHECK(error("-N 0") == "f:2:9: --nodes: \"0\" is not a number of nodes (expected e.g. 4, 2-4 "
                           "or 1,2,4)\n");
    CHECK(error("-n -4") == "f:2:9: --ntasks: \"-4\" is not a count (expected a whole number from "
                            "1 to 2147483647)\n");
    for (const std::string option : {"-c 0",
                                     "-c x",
                                     "--ntasks-per-node=0",
                                     "--mincpus=-1",
                                     "--mem=-1",
                                     "--tmp=x",
                                     "-G x:",
                                     "--gpus-per-node=a100:",
                                     "--gpus-per-task=-1",
                                     "--gres=gpu:",
                                     "--tres-per-task=cpu",
                                     "-t x",
                                     "-t 1:2:3:4",
                                     "-w n[",
                                     "-x n]",
                                     "-C a&",
                                     "--prefer=|",
                                     "--exclusive=yes",
                                     "--cpus-per-gpu=0",
                                     "--mem-per-cpu=1.5G",
                                     "--mem-per-gpu=4GiB"}) {
        CAPTURE(option);
        CHECK(error(option).find("f:2:9: --") == 0);
        CHECK(error(option).find(" is not ") != std::string::npos);
        CHECK(error(option).find(" (expected ") != std::string::npos);
    }
}

TEST_CASE("options that exclude each other are an error") {
    for (const std::string option :
         {"--mem=1 --mem-per-cpu=1", "--mem=1 --mem-per-gpu=1", "--mem-per-cpu=1 --mem-per-gpu=1",
          "--cpus-per-gpu=1 -c1", "--ntasks-per-gpu=1 --ntasks-per-node=1",
          "--gres=gpu:1 --gpus-per-node=1", "--tres-per-task=cpu=2 -c2"}) {
        CAPTURE(option);
        CHECK(error(option).find(" does not go with --") != std::string::npos);
    }
}

} // namespace codec_slurm_job_request_test
