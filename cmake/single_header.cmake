# The target muster_single_header: the core as one header, in <build>/single_header, the folder to give to
# a compiler's -I. It is not part of ALL.
find_program(MUSTER_BASH bash)
mark_as_advanced(MUSTER_BASH)
if(MUSTER_BASH)
  set(muster_single_header "${PROJECT_BINARY_DIR}/single_header/muster/muster.hpp")
  get_target_property(muster_core_headers muster_core HEADER_SET)
  add_custom_command(OUTPUT "${muster_single_header}"
    COMMAND "${MUSTER_BASH}" "${PROJECT_SOURCE_DIR}/cmake/single_header.sh" "${muster_single_header}"
    DEPENDS "${PROJECT_SOURCE_DIR}/cmake/single_header.sh" ${muster_core_headers}
    VERBATIM)
  add_custom_target(muster_single_header DEPENDS "${muster_single_header}")
endif()
