// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>

#include "exit_codes.hpp"
#include "terminal.hpp"

namespace cli {

void complain(const std::string& line) {
    std::fprintf(stderr, "%s\n", line.c_str());
}

void complain(const muster::codec::diagnostics& found, bool strict) {
    for (muster::codec::diagnostic finding : found.findings()) {
        if (strict)
            finding.level = muster::codec::severity::error;
        complain(to_text(finding));
    }
    if (found.dropped() > 0)
        complain("and " + std::to_string(found.dropped()) + " more findings");
}

bool write(const std::string& text) {
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
           std::fflush(stdout) == 0;
}

int finish(bool written, bool waits) {
    if (!written) {
        complain("stdout cannot be written");
        return usage;
    }
    return waits ? pending : fine;
}

} // namespace cli
