# The target muster_docs: README.md, the pages of the floors and the API as a site in <build>/docs/html.
# It fails on any warning of Doxygen. It is not part of ALL.
find_program(MUSTER_DOXYGEN doxygen)
mark_as_advanced(MUSTER_DOXYGEN)
if(MUSTER_DOXYGEN)
  set(MUSTER_DOCS "${PROJECT_BINARY_DIR}/docs")
  configure_file(cmake/doxygen/Doxyfile.in "${MUSTER_DOCS}/Doxyfile" @ONLY)
  add_custom_target(muster_docs
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${MUSTER_DOCS}/html"
    COMMAND "${MUSTER_DOXYGEN}" "${MUSTER_DOCS}/Doxyfile"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" VERBATIM)
endif()
