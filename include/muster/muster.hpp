// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The core: everything that decides, nothing that reads or writes.

#include <muster/base/compilation.hpp>       // IWYU pragma: export
#include <muster/base/result.hpp>            // IWYU pragma: export
#include <muster/base/version.hpp>           // IWYU pragma: export
#include <muster/cluster/state.hpp>          // IWYU pragma: export
#include <muster/cycle/cycle.hpp>            // IWYU pragma: export
#include <muster/explain/explain.hpp>        // IWYU pragma: export
#include <muster/policy/decayed_usage.hpp>   // IWYU pragma: export
#include <muster/resource/kind_table.hpp>    // IWYU pragma: export
#include <muster/resource/quantity.hpp>      // IWYU pragma: export
#include <muster/resource/quantity_text.hpp> // IWYU pragma: export
