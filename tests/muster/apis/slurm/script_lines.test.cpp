// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/script_lines.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace codec_slurm_script_lines_test {

using namespace muster::codec::slurm;

namespace {

std::vector<std::string> directives(std::string_view text) {
    std::vector<std::string> found;
    for (const directive_line& each : find_directives(text).directives) {
        CHECK(text.substr(each.offset, each.text.size()) == each.text);
        found.emplace_back(each.text);
    }
    return found;
}

using lines = std::vector<std::string>;

} // namespace

TEST_CASE("lines that begin with #SBATCH are read up to the first command") {
    CHECK(directives("#!/bin/bash\n#SBATCH -N2\n\n# comment\n  # more\n#SBATCH -n4\nsrun x\n"
                     "#SBATCH -N9\n") == lines{" -N2", " -n4"});
    CHECK(directives("#!/bin/bash\n#SBATCH -N2") == lines{" -N2"});
    CHECK(directives("") == lines{});
}

TEST_CASE("a line with more in front of #SBATCH is a comment") {
    CHECK(directives("#!/bin/bash\n##SBATCH -N2\n #SBATCH -N3\n# SBATCH -N4\n#sbatch -N5\n") ==
          lines{});
}

TEST_CASE("lines behind the first command are counted and not read") {
    const std::string text = "#!/bin/bash\nmodule load x\n#SBATCH -N2\necho #SBATCH\n#SBATCH -N3";
    const script_lines found = find_directives(text);
    CHECK(found.directives.empty());
    CHECK(found.late == 2);
    CHECK(text.substr(found.first_late, 11) == "#SBATCH -N2");
}

TEST_CASE("options of other systems are found up to the first command") {
    CHECK(find_directives("#!/bin/sh\n#PBS -l x\nrun\n").first_foreign == 10);
    CHECK(find_directives("#!/bin/sh\nrun\n#BSUB -l x\n").first_foreign == std::string_view::npos);
}

TEST_CASE("a batch script has an interpreter and a directive, or a directive at its head") {
    CHECK(is_batch_script("#!/bin/bash\n#SBATCH -N2\n"));
    CHECK(is_batch_script("#!/bin/bash\nrun\n#SBATCH -N2\n"));
    CHECK(is_batch_script("# mine\n\n#SBATCH -N2\n"));
    CHECK(is_batch_script("\xEF\xBB\xBF#SBATCH\n", 3));
    CHECK_FALSE(is_batch_script("#!/bin/bash\nrun\n"));
    CHECK_FALSE(is_batch_script("#!/usr/bin/kubectl apply -f\napiVersion: v1\n"));
    CHECK_FALSE(is_batch_script("apiVersion: v1\n#SBATCH -N2\n"));
    CHECK_FALSE(is_batch_script("data:\n  script: |\n    #!/bin/bash\n    #SBATCH -N2\n"));
    CHECK_FALSE(is_batch_script(""));
}

TEST_CASE("DOS line breaks stay in the text of a directive") {
    CHECK(directives("#!/bin/bash\r\n#SBATCH -N2\r\n\r\n#SBATCH -n4\r\n") ==
          lines{" -N2\r", " -n4\r"});
}

} // namespace codec_slurm_script_lines_test
