# Every target but muster::core is an INTERFACE library that owns whole folders of include/muster, links
# only what these folders use, and adds no flags: warnings and sanitizers belong to the presets.

# muster_library(<name> EXPORT <set> FOLDERS <folder>... [FILES <header>...]
#                [LINKS <target>...])
#   makes the target muster_<name> with the alias muster::<name>.
function(muster_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXPORT" "FOLDERS;FILES;LINKS")
  # A program is called `muster`, so the target of muster::muster has another name.
  set(target muster_${name})
  if(name STREQUAL "muster")
    set(target muster_core)
  endif()

  set(headers ${arg_FILES})
  foreach(folder IN LISTS arg_FOLDERS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/muster/${folder}/*.hpp")
    list(APPEND headers ${found})
  endforeach()

  add_library(${target} INTERFACE)
  add_library(muster::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_sources(${target} INTERFACE FILE_SET HEADERS
                 BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${headers})
  target_link_libraries(${target} INTERFACE ${arg_LINKS})
  set_property(GLOBAL APPEND PROPERTY muster_exports_${arg_EXPORT} ${target})
endfunction()

if(MUSTER_TRANSLATE)
  find_package(Boost 1.75 CONFIG REQUIRED COMPONENTS json)
  list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
  find_package(LibYAML REQUIRED)
else()
  find_package(Boost 1.74 CONFIG REQUIRED)
endif()

if(MUSTER_KUBE)
  find_package(CURL 7.87 REQUIRED)
endif()

file(GLOB muster_root_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/muster/*.hpp")
# The floors of the core, from the lowest to the highest.
set(MUSTER_CORE_FOLDERS base resource vocabulary cluster index plan policy problem exact greedy admission wait preempt explain cycle advice words)
muster_library(muster EXPORT core
  FOLDERS ${MUSTER_CORE_FOLDERS}
  FILES ${muster_root_headers}
  LINKS Boost::headers)
include(cmake/muster-core.cmake)
# -O3 is for benchmarks, which compile the core header-only.
target_compile_options(muster_compiled PRIVATE $<$<CONFIG:Release>:-O2>)
muster_library(driver EXPORT core
  FOLDERS adapter
  LINKS muster_core)
muster_library(testing EXPORT core
  FOLDERS testing
  LINKS muster_driver)
if(MUSTER_TRANSLATE)
  muster_library(translate EXPORT translate
    FOLDERS devices document gangs apis input lifecycle
    LINKS muster_core Boost::json LibYAML::LibYAML)
  muster_library(sim EXPORT translate
    FOLDERS sim
    LINKS muster_translate muster_driver)
  # The API server of `muster up` is for this tree's program and tests; it is not installed.
  find_package(OpenSSL 3 QUIET)
  if(OPENSSL_FOUND)
    add_library(muster_api_server INTERFACE)
    add_library(muster::api_server ALIAS muster_api_server)
    target_include_directories(muster_api_server INTERFACE "${PROJECT_SOURCE_DIR}/examples")
    target_link_libraries(muster_api_server INTERFACE muster_testing Boost::json OpenSSL::SSL)
  endif()
endif()
if(MUSTER_KUBE)
  muster_library(kube EXPORT kube
    FOLDERS kube
    LINKS muster_translate muster_driver CURL::libcurl)
endif()
