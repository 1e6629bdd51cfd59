// SPDX-License-Identifier: Apache-2.0
#pragma once

/// MUSTER_ASSERT(condition, message) guards against our own mistakes, never against bad input.
/// Define it before the first include to route it elsewhere; every translation unit of a program
/// must define it alike.
#ifndef MUSTER_ASSERT
#include <cassert>
#define MUSTER_ASSERT(condition, message) assert((condition) && (message))
#endif
