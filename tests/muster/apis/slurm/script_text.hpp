// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/slurm/job_request.hpp>
#include <muster/apis/slurm/script_lines.hpp>
#include <muster/apis/slurm/script_options.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/source_text.hpp>

namespace codec_slurm_tests {

/// A script with these options, one directive for each line.
inline std::string script(const std::vector<std::string>& lines) {
    std::string made = "#!/bin/bash\n";
    for (const std::string& each : lines)
        made += "#SBATCH " + each + "\n";
    return made + "srun train\n";
}

struct request_reading {
    muster::codec::slurm::job_request asked;
    std::string findings; ///< without the names of the files
};

/// What the first component of a script with these options asks for.
inline request_reading request_of(const std::string& options) {
    using namespace muster::codec;
    using namespace muster::codec::slurm;
    const source_text source("f", script({options}));
    diagnostics out;
    const option_report report(source, out);
    const auto components = read_script_options(find_directives(source.text()).directives, report);
    request_reading made{read_job_request(components.front(), report), {}};
    for (const diagnostic& each : out.findings())
        made.findings += to_text(each) + '\n';
    return made;
}

} // namespace codec_slurm_tests
