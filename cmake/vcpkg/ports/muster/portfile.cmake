# The port of this tree: it installs the sources beside it. vcpkg's binary cache does not know them, so
# install with --no-binarycaching after a change of the tree.
cmake_path(GET CURRENT_PORT_DIR PARENT_PATH muster_tree)
foreach(level RANGE 2)
  cmake_path(GET muster_tree PARENT_PATH muster_tree)
endforeach()
if(NOT EXISTS "${muster_tree}/include/muster/muster.hpp")
  message(FATAL_ERROR "the port muster must stay in its tree: there is no ${muster_tree}/include/muster/muster.hpp")
endif()

# Nothing is compiled here, so one build type will do.
set(VCPKG_BUILD_TYPE release)
vcpkg_check_features(OUT_FEATURE_OPTIONS muster_features
  FEATURES
    translate MUSTER_TRANSLATE
    kube MUSTER_KUBE)
vcpkg_cmake_configure(
  SOURCE_PATH "${muster_tree}"
  OPTIONS
    -DMUSTER_BUILD_TESTS=OFF
    -DMUSTER_BUILD_EXAMPLES=OFF
    ${muster_features})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/muster)
vcpkg_fixup_pkgconfig()

file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${muster_tree}/LICENSE")
