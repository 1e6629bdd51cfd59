// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/script_document.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <muster/apis/slurm/script_text.hpp>
#include <muster/input/gang_reader.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_slurm_script_document_test {

using namespace codec_slurm_tests;
using namespace muster::codec;

namespace {

struct reading {
    std::vector<document> documents;
    std::string findings;
};

reading read(std::string text, const std::string& file = "train.sbatch") {
    reading made;
    diagnostics out;
    made.documents = read_documents(file, std::move(text), out);
    for (const diagnostic& each : out.findings())
        made.findings += to_text(each) + '\n';
    return made;
}

std::string spec(const std::vector<std::string>& lines, std::string_view key) {
    const reading made = read(script(lines));
    CHECK(made.documents.size() == 1);
    if (made.documents.empty())
        return made.findings;
    const auto& object = made.documents.front().root().at("spec").as_object();
    return object.contains(key) ? boost::json::serialize(object.at(key)) : "";
}

std::string name(const std::vector<std::string>& lines, const std::string& file = "train.sbatch") {
    const reading made = read(script(lines), file);
    REQUIRE(made.documents.size() == 1);
    return made.documents.front().root().at("metadata").at("name").as_string().c_str();
}

} // namespace

TEST_CASE("a script is a document with one object, which stands at its beginning") {
    const reading made = read(script({"-N2"}));
    CHECK(made.findings.empty());
    REQUIRE(made.documents.size() == 1);
    const document& only = made.documents.front();
    CHECK(only.root().at("apiVersion") == "slurm.muster.dev/v1");
    CHECK(only.root().at("kind") == "BatchScript");
    CHECK(to_text(only.locate()) == "train.sbatch:1:1");
    CHECK(only.text().starts_with("#!/bin/bash"));
}

TEST_CASE("the job is called as sbatch calls it, in letters that Kubernetes allows") {
    CHECK(name({"-J train"}) == "train");
    CHECK(name({"-J 'Train_GPT  (2)'"}) == "train-gpt-2");
    CHECK(name({"-J ///"}) == "job");
    CHECK(name({"-N1"}, "/home/me/Run.sh") == "run.sh");
    CHECK(name({"-N1"}, "<stdin>") == "sbatch");
    CHECK(name({"-J " + std::string(99, 'a')}).size() == 40);
    CHECK(slurm::object_name("a..b.-c--") == "a.b.c");
}

TEST_CASE("the partition is the queue, and priorities are numbers") {
    CHECK(spec({"-p gpu"}, "queue") == "\"gpu\"");
    CHECK(spec({"-p a,b"}, "queue") == "\"a\"");
    CHECK(spec({"--priority=7"}, "priority") == "7");
    CHECK(spec({"--priority=4294967295"}, "priority") == "2147483647");
    CHECK(spec({"--nice"}, "priority") == "-100");
    CHECK(spec({"--nice=-5 --priority=7"}, "priority") == "12");
    CHECK(spec({"-q 9"}, "priority") == "9");
    CHECK(spec({"-q high --priority=TOP"}, "priority") == "");
    CHECK(read(script({"-q high"})).findings.find("warning: --qos: ") != std::string::npos);
    CHECK(read(script({"--priority=TOP"})).findings.find("warning: --priority: ") !=
          std::string::npos);
    for (const char* const each : {"--priority=x", "--priority=0", "--nice=x", "--nice=--1"}) {
        CHECK(read(script({each})).documents.empty());
        CHECK(read(script({each})).findings.find(" (expected ") != std::string::npos);
    }
}

TEST_CASE("components are roles with what is theirs") {
    const std::string roles = spec({"-N1 -A lab", "hetjob", "-N2-4 --exclusive"}, "roles");
    CHECK(
        roles ==
        R"([{"name":"het-0","minimum":1,"ownNodes":false,"exclusive":false,"pods":[{"count":1,)"
        R"("template":{"spec":{"restartPolicy":"Never","containers":[{"name":"tasks","resources":)"
        R"({"requests":{"cpu":"1"}}}]},"metadata":{"annotations":)"
        R"({"slurmjob.slinky.slurm.net/account":"lab"}}}}]},)"
        R"({"name":"het-1","minimum":2,"ownNodes":true,"exclusive":true,"pods":[{"count":4,)"
        R"("template":{"spec":{"restartPolicy":"Never","containers":[{"name":"tasks","resources":)"
        R"({"requests":{"cpu":"1"}}}]},"metadata":{"annotations":)"
        R"({"slurmjob.slinky.slurm.net/account":"lab"}}}}]}])");
}

TEST_CASE("a component has options of the one before, and they are reported once") {
    CHECK(read(script({"-N1 -d singleton", "hetjob", "-N2"})).findings ==
          "train.sbatch:2:13: warning: --dependency: the option bears on where or when the job may "
          "start and is not modelled, so the job waits (scheduling gate "
          "slurm.muster.dev/dependency)\n");
    CHECK(read(script({"-t x", "hetjob", "-N2"})).findings ==
          "train.sbatch:2:9: --time: \"x\" is not a time (expected e.g. 90 (minutes), 01:30:00 or "
          "2-12 (days-hours))\n");
    const std::string roles =
        spec({"-N1 --mem=4G", "hetjob", "-N1", "hetjob", "--mem-per-cpu=1G"}, "roles");
    std::size_t inherited = 0;
    for (std::size_t at = roles.find("4096Mi"); at != std::string::npos;
         at = roles.find("4096Mi", at + 1))
        ++inherited;
    CHECK(inherited == 2);
    CHECK(roles.find("1024Mi") != std::string::npos);
}

TEST_CASE("one queue is that of the first component") {
    CHECK(spec({"-p a", "hetjob", "-p b"}, "queue") == "\"a\"");
    CHECK(read(script({"-p a", "hetjob", "-p b"})).findings ==
          "train.sbatch:4:9: warning: --partition: a gang has one queue, here that of the first "
          "component\n");
}

TEST_CASE("alternatives that must be the same for all nodes are modelled for one node") {
    CHECK(read(script({"-C [a|b] -N1"})).findings.empty());
    CHECK(read(script({"-C [a|b] -N2"})).findings ==
          "train.sbatch:2:9: warning: --constraint: one feature for all nodes is not modelled, so "
          "the job waits (scheduling gate slurm.muster.dev/constraint)\n");
    CHECK(spec({"-C [a|b] -N2"}, "roles").find("slurm.muster.dev/constraint") != std::string::npos);
}

TEST_CASE("an array has its indices, and a limit that does bind") {
    CHECK(spec({"-a 0-6:3"}, "indices") == "[0,3,6]");
    CHECK(spec({"-a 0-2%2"}, "atOnce") == "2");
    CHECK(spec({"-a 0-2%3"}, "atOnce") == "");
    CHECK(read(script({"-a 0-2", "hetjob", "-N1"})).documents.empty());
    CHECK(read(script({"-a x"})).findings ==
          "train.sbatch:2:9: --array: \"x\" is not a list of at most 100000 indices (expected "
          "e.g. 0-15:4,20%2)\n");
}

TEST_CASE("numbers that contradict each other are an error at one of the options") {
    CHECK(read(script({"-N4", "-G 2"})).findings ==
          "train.sbatch:3:9: --gpus: 2 GPUs are too few for 4 nodes (expected at least one "
          "each)\n");
}

TEST_CASE("a script that sbatch refuses is an error, or a warning for DOS line breaks") {
    CHECK(read("#SBATCH -N2\nrun\n").findings ==
          "train.sbatch:1:1: the first line names no interpreter (expected e.g. #!/bin/bash, "
          "without which sbatch refuses the script)\n");
    CHECK(read(script({"-N2"}) + std::string("a\0b", 3))
              .findings.starts_with("train.sbatch:4:2: a zero byte (expected "));
    CHECK(read(script({"-J \xFF"})).findings.starts_with("train.sbatch:2:12: not UTF-8"));
    const reading dos = read("#!/bin/bash\r\n#SBATCH -N2\r\n");
    CHECK(dos.documents.size() == 1);
    CHECK(dos.findings == "train.sbatch:2:8: warning: the script has DOS line breaks, with which "
                          "sbatch refuses it\n");
}

TEST_CASE("lines that sbatch does not read are a warning") {
    CHECK(read("#!/bin/bash\nrun\n#SBATCH -N2\n#SBATCH -n2\n").findings ==
          "train.sbatch:3:1: warning: ignored as by sbatch, since it is behind the first command "
          "(+1 line)\n");
    CHECK(read("#!/bin/bash\n#PBS -l x\n#SBATCH -N2\n")
              .findings.starts_with(
                  "train.sbatch:2:1: warning: options of other systems are not read"));
}

TEST_CASE("very long lines and very large numbers end in an answer") {
    const std::string letters(10U << 20U, 'a');
    CHECK(read(script({"-J " + letters})).findings.find("the line is too long") !=
          std::string::npos);
    CHECK(read("#!/bin/bash\n#SBATCH -N2\necho " + letters).documents.size() == 1);
    CHECK(read(script({"--" + letters.substr(0, 1U << 20U)})).findings.find("unknown option") !=
          std::string::npos);
    CHECK(read(script({"--ntasks=999999999"})).documents.size() == 1);
    CHECK(read(script({"--ntasks=99999999999"})).documents.empty());
    CHECK(read(script({"-w " + std::string(1U << 20U, '[')})).documents.empty());
    CHECK(read(script({"-C " + std::string(1U << 20U, '(')})).documents.empty());
}

TEST_CASE("very many lines end in an answer") {
    const auto many = [](const std::string& line) {
        std::string text = "#!/bin/bash\n";
        while (text.size() < (1U << 20U))
            text += line;
        return read(text);
    };
    CHECK(many("#SBATCH -N2\n").documents.size() == 1);
    CHECK(many("#SBATCH --ntask-per-node=2\n").documents.empty());
    CHECK(many("#SBATCH hetjob\n").documents.empty());
    CHECK(many("run\n#SBATCH -N2\n").findings.find("(+") != std::string::npos);
}

TEST_CASE("any text ends in gangs or in errors that name the file and what is wrong") {
    static constexpr std::string_view pieces[] = {"#SBATCH ",
                                                  "#SBATCH",
                                                  "\n",
                                                  "\n#SBATCH ",
                                                  "\n#SBATCH ",
                                                  " ",
                                                  "-",
                                                  "--",
                                                  "=",
                                                  ":",
                                                  ",",
                                                  "nodes",
                                                  "ntasks",
                                                  "gres",
                                                  "gpu",
                                                  "mem",
                                                  "4G",
                                                  "4Q",
                                                  "0",
                                                  "1",
                                                  "2",
                                                  "3-5",
                                                  "1-9:2",
                                                  "a100:2",
                                                  "hetjob",
                                                  "-N",
                                                  "-n ",
                                                  "-c",
                                                  "-w ",
                                                  "n[1-3",
                                                  "]",
                                                  "[",
                                                  "(",
                                                  ")",
                                                  "&",
                                                  "|",
                                                  "'",
                                                  "\"",
                                                  "\\",
                                                  "#",
                                                  "%2",
                                                  "--array=",
                                                  "--gpus=",
                                                  "-C ",
                                                  "--time=",
                                                  "1-2:3",
                                                  "UNLIMITED",
                                                  "--nice",
                                                  "--exclusive",
                                                  "\r\n",
                                                  "\t",
                                                  "\x01",
                                                  "\xC3\xA9",
                                                  "\xFF",
                                                  "srun x\n",
                                                  "{",
                                                  "99999999",
                                                  "--ntasks-per-gpu=",
                                                  "--gpus-per-task=",
                                                  "--tres-per-task=cpu=",
                                                  "--mem=0",
                                                  "--mem-per-cpu=",
                                                  "--cpus-per-gpu=",
                                                  "--gpus-per-node=",
                                                  "--ntasks-per-node=",
                                                  "--qos=",
                                                  "--prefer=",
                                                  "--exclude=",
                                                  "-G",
                                                  "-O ",
                                                  "-t "};
    unsigned state = 1;
    const auto next = [&](std::size_t below) {
        state = state * 1664525U + 1013904223U;
        return (state >> 8U) % below;
    };
    std::size_t whole = 0;
    for (int run = 0; run < 6000; ++run) {
        std::string text = next(8) == 0 ? "" : "#!/bin/bash\n#SBATCH ";
        for (std::size_t length = next(14); length > 0; --length)
            text += pieces[next(std::size(pieces))];
        diagnostics out;
        const std::vector<document> documents = read_documents("f", text, out);
        CAPTURE(text);
        for (const diagnostic& each : out.findings()) {
            CHECK(each.where.file == "f");
            CHECK_FALSE(each.message.empty());
        }
        if (!slurm::is_batch_script(text))
            continue;
        CHECK(documents.size() == (out.ok() ? 1U : 0U));
        if (documents.empty())
            continue;
        ++whole;
        gang_options options;
        options.jobs.pods = false;
        const gangs made = read_gangs(documents, options, out);
        CHECK((!out.ok() || !made.bundles.empty()));
        for (const auto& bundle : made.bundles)
            CHECK(bundle.gang.tree[0].min_member > 0);
    }
    // The words are such that many texts are whole.
    CHECK(whole > 500);
}

} // namespace codec_slurm_script_document_test
