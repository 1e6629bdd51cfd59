// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "../plan/policy_options.hpp"

namespace cli {

/// Adds the options from which the scheduling policy is made.
void add_policy(CLI::App& to, policy_options& how);

} // namespace cli
