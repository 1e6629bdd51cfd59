# The config package `muster` and its pkg-config files. Components: core, driver and testing are always
# installed; translate, sim (installed with translate) and kube on request. All files are independent of
# the machine, so they are installed under share/.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(muster_package_dir "${CMAKE_INSTALL_DATADIR}/cmake/muster")

foreach(export IN ITEMS core translate kube)
  get_property(targets GLOBAL PROPERTY muster_exports_${export})
  if(targets)
    install(TARGETS ${targets} EXPORT muster-${export}-targets
            FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
    install(EXPORT muster-${export}-targets NAMESPACE muster:: DESTINATION "${muster_package_dir}")
  endif()
endforeach()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/muster-config.cmake.in"
  "${PROJECT_BINARY_DIR}/muster-config.cmake"
  INSTALL_DESTINATION "${muster_package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/muster-config-version.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/muster-config.cmake"
              "${PROJECT_BINARY_DIR}/muster-config-version.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/muster-core.cmake"
        DESTINATION "${muster_package_dir}")
if(MUSTER_TRANSLATE)
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/FindLibYAML.cmake" DESTINATION "${muster_package_dir}")
endif()

# Relative to the file itself, so that an installed tree may be moved.
file(RELATIVE_PATH muster_pc_prefix
     "${CMAKE_INSTALL_FULL_DATADIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" muster_pc_prefix "${muster_pc_prefix}")
set(muster_pc_files muster)
if(MUSTER_TRANSLATE)
  list(APPEND muster_pc_files muster-translate)
endif()
if(MUSTER_KUBE)
  list(APPEND muster_pc_files muster-kube)
endif()
foreach(name IN LISTS muster_pc_files)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc"
                 @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/pkgconfig")
endforeach()
