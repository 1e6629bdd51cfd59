// SPDX-License-Identifier: Apache-2.0
#pragma once

/// MUSTER_ASSERT(condition, message) checks for bugs of this library, never for bad input. To route
/// it elsewhere, define it before the first include, in the same way in every translation unit.
#ifndef MUSTER_ASSERT
#include <cassert>
#define MUSTER_ASSERT(condition, message) assert((condition) && (message))
#endif
