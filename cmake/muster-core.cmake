# The target muster::core: the core's definitions, compiled once for all programs that link it, with
# the flags of the project that links it. It is built only if a target links it. This file is used by
# this tree and by the installed package.
set(MUSTER_CORE_KINDS 4 32 CACHE STRING
    "Numbers of resource kinds for which muster::core is compiled: the widths of your states")
mark_as_advanced(MUSTER_CORE_KINDS)

if(NOT TARGET muster::core)
  set(muster_core_sources)
  foreach(kinds IN LISTS MUSTER_CORE_KINDS)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/muster_core_${kinds}.cpp")
    file(CONFIGURE OUTPUT "${source}" @ONLY
         CONTENT "#include <muster/src.hpp>\nMUSTER_COMPILE_CORE(${kinds})\n")
    list(APPEND muster_core_sources "${source}")
  endforeach()
  add_library(muster_compiled STATIC EXCLUDE_FROM_ALL ${muster_core_sources})
  target_compile_definitions(muster_compiled PUBLIC MUSTER_SEPARATE_COMPILATION)
  target_link_libraries(muster_compiled PUBLIC muster::muster)
  set_target_properties(muster_compiled PROPERTIES UNITY_BUILD OFF)
  add_library(muster::core ALIAS muster_compiled)
endif()
