// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/script_options.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace codec_slurm_script_options_test {

using namespace muster::codec;
using namespace muster::codec::slurm;

namespace {

/// Components as `name=value` each, and findings as lines.
std::string options(const std::string& lines) {
    const source_text source("f", lines);
    diagnostics out;
    const option_report report(source, out);
    std::string made;
    for (const job_component& component :
         read_script_options(find_directives(source.text()).directives, report)) {
        made += made.empty() ? "" : " | ";
        for (const script_option& each : component.options)
            made += (made.empty() || made.ends_with(' ') ? "" : " ") +
                    std::string(each.spec->name) + (each.has_value ? "=" + each.value : "");
    }
    for (const diagnostic& each : out.findings())
        made += "\n" + to_text(each);
    return made;
}

} // namespace

TEST_CASE("options have a long and a short form, with their values in all the ways of getopt") {
    CHECK(
        options("#SBATCH --nodes=2 --ntasks 4 -c 8 -J train\n#SBATCH -pgpu -HO --exclusive\n") ==
        "nodes=2 ntasks=4 cpus-per-task=8 job-name=train partition=gpu hold overcommit exclusive");
    CHECK(options("#SBATCH --exclusive=user --nice --nice=5 --tasks-per-node=3\n") ==
          "exclusive=user nice=5 ntasks-per-node=3");
}

TEST_CASE("the last one of equal options counts") {
    CHECK(options("#SBATCH -N2\n#SBATCH --nodes=3\n") == "nodes=3");
}

TEST_CASE("a long option may be abbreviated if only one begins so") {
    CHECK(options("#SBATCH --part=gpu\n") == "partition=gpu");
    CHECK(options("#SBATCH --cpus=2\n") == "\nf:1:9: --cpus: the option is ambiguous (expected "
                                           "--cpus-per-gpu or --cpus-per-task)");
}

TEST_CASE("hetjob begins a component that keeps the options of the job as a whole") {
    CHECK(options("#SBATCH -A lab -N1 -p big --mem=4G\n#SBATCH hetjob\n#SBATCH -N2\n"
                  "#SBATCH PACKJOB -n3 # last\n") ==
          "account=lab nodes=1 partition=big mem=4G | account=lab mem=4G nodes=2 | account=lab "
          "mem=4G ntasks=3");
}

TEST_CASE("a job has at most 128 components") {
    std::string lines;
    for (int at = 0; at < 127; ++at)
        lines += "#SBATCH hetjob\n";
    CHECK(options(lines).find('\n') == std::string::npos);
    CHECK(options(lines + "#SBATCH hetjob\n")
              .ends_with("f:128:9: the job has more than 128 components (expected at most that "
                         "many)"));
}

TEST_CASE("an unknown option is an error that names the nearest one") {
    CHECK(options("#SBATCH --ntask-per-node=2\n") ==
          "\nf:1:9: --ntask-per-node: unknown option (did you mean ntasks-per-node?)");
    CHECK(options("#SBATCH -N2 -z\n") ==
          "nodes=2\nf:1:13: -z: unknown option (expected one of sbatch, e.g. -N, -n, -c)");
    CHECK(options("#SBATCH --=2 --\n#SBATCH nodes=2\n") ==
          "\nf:1:9: --: unknown option\nf:1:14: \"--\" is no option (expected e.g. --nodes=2)"
          "\nf:2:9: \"nodes=2\" is no option (expected e.g. --nodes=2)");
}

TEST_CASE("a value that is missing, empty or too much is an error") {
    CHECK(options("#SBATCH --nodes\n#SBATCH --ntasks=4\n") ==
          "ntasks=4\nf:1:9: --nodes: the value is missing (expected it on this line)");
    CHECK(options("#SBATCH --nodes=\n") == "\nf:1:9: --nodes: the value is empty (expected one)");
    CHECK(options("#SBATCH --hold=1\n") ==
          "\nf:1:9: --hold: the option has the value \"1\" (expected none)");
}

} // namespace codec_slurm_script_options_test
