# What portfile.cmake calls of vcpkg, as far as its documentation says what the functions do. Run by
# vcpkg.test.sh: cmake -DPORT=... -DCURRENT_PORT_DIR=... -DCURRENT_PACKAGES_DIR=... -DBUILD=... -DFEATURES=...
# -P vcpkg_stubs.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${said}")
  endif()
endfunction()

function(vcpkg_check_features)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
  set(options)
  while(arg_FEATURES)
    list(POP_FRONT arg_FEATURES feature variable)
    if(feature IN_LIST FEATURES)
      list(APPEND options -D${variable}=ON)
    else()
      list(APPEND options -D${variable}=OFF)
    endif()
  endwhile()
  set(${arg_OUT_FEATURE_OPTIONS} "${options}" PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  run("${CMAKE_COMMAND}" -G Ninja -S "${arg_SOURCE_PATH}" -B "${BUILD}" -DCMAKE_BUILD_TYPE=Release
      "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  run("${CMAKE_COMMAND}" --build "${BUILD}" --target install)
endfunction()

# Moves the package's CMake files to share/<port>, two folders below the prefix, and says so in them.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
  file(GLOB files "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/*")
  if(NOT files)
    message(FATAL_ERROR "there is nothing in ${arg_CONFIG_PATH}")
  endif()
  foreach(file IN LISTS files)
    cmake_path(GET file FILENAME name)
    file(READ "${file}" text)
    string(REGEX REPLACE "(get_filename_component\\(_IMPORT_PREFIX \"[^\"]*\" PATH\\)\n)+"
           "cmake_path(SET _IMPORT_PREFIX NORMALIZE \"\${CMAKE_CURRENT_LIST_DIR}/../..\")\n" text "${text}")
    string(REGEX REPLACE "\"\\\${CMAKE_CURRENT_LIST_DIR}/\\.\\./(\\.\\./)*\" ABSOLUTE"
           "\"\${CMAKE_CURRENT_LIST_DIR}/../../\" ABSOLUTE" text "${text}")
    file(WRITE "${CURRENT_PACKAGES_DIR}/share/${PORT}/${name}" "${text}")
  endforeach()
  file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/cmake")
endfunction()

# vcpkg moves nothing of share/pkgconfig; it checks that the files can be read.
function(vcpkg_fixup_pkgconfig)
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(READ "${arg_FILE_LIST}" text)
  file(WRITE "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright" "${text}")
endfunction()

include("${CURRENT_PORT_DIR}/portfile.cmake")
