// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <muster/document/diagnostic.hpp>

namespace cli {

/// Writes a line to stderr.
void complain(const std::string& line);

/// Writes the findings to stderr. With `strict`, warnings are errors.
void complain(const muster::codec::diagnostics& found, bool strict);

/// Writes to stdout. Returns false if stdout cannot be written.
[[nodiscard]] bool write(const std::string& text);

/// Returns the exit code of a command that has written its result, and complains if that failed.
[[nodiscard]] int finish(bool written, bool waits);

} // namespace cli
