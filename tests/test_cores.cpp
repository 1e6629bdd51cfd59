// SPDX-License-Identifier: Apache-2.0
// The cores that muster::core does not have, for tests that link it: states of eight kinds, and
// those of random worlds, whose index splits and merges on few nodes.
#include <muster/src.hpp>

MUSTER_COMPILE_CORE(8)
MUSTER_COMPILE_CORE_OF(core_traits<4, 4, 2>)
