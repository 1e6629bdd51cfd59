// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report.hpp"

namespace bench {

/// Tells who waits what is being measured.
void say(const char* what);

/// Measures Muster against A and A2 in one process, then what `rest` adds, and prints one table;
/// README.md says what is what. What the program gives back.
int run_table(int count, char** values, void (*rest)(report& to, bool quick));

} // namespace bench
