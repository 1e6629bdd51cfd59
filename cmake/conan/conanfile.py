# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe of Muster. From the root of the tree: conan create cmake/conan -s compiler.cppstd=20

The package has the headers, and the CMake files that compile muster::core in the program's own build.
It is the same for all compilers and build types.
"""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy, load

required_conan_version = ">=2.0"
root = os.path.join("..", "..")


class MusterConan(ConanFile):
    name = "muster"
    description = "Gang scheduling, header-only"
    license = "Apache-2.0"
    topics = ("scheduling", "kubernetes", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True
    options = {
        # muster::translate and muster::sim; with_kube adds muster::kube.
        "with_translate": [True, False],
        "with_kube": [True, False],
        # Boost, libyaml and libcurl of the system in place of Conan's packages.
        "system_libraries": [True, False],
    }
    default_options = {"with_translate": False, "with_kube": False, "system_libraries": False}

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, root, "include", "muster", "base", "version.hpp"))
        parts = re.findall(r"^#define MUSTER_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.MULTILINE)
        self.version = ".".join(parts)

    def export_sources(self):
        tree = os.path.join(self.recipe_folder, root)
        for pattern in ("include/*", "cmake/*.cmake", "cmake/*.in", "CMakeLists.txt", "LICENSE"):
            copy(self, pattern, src=tree, dst=self.export_sources_folder)

    def requirements(self):
        if self.options.system_libraries:
            return
        # The core includes headers of Boost only; the header_only option of Boost has no Boost.JSON.
        self.requires("boost/[>=1.75 <2]", transitive_headers=True, transitive_libs=True,
                      options={} if self.options.with_translate else {"header_only": True})
        if self.options.with_translate:
            self.requires("libyaml/[>=0.2.5 <1]", transitive_headers=True, transitive_libs=True)
        if self.options.with_kube:
            self.requires("libcurl/[>=7.87 <9]", transitive_headers=True, transitive_libs=True)

    def package_id(self):
        del self.info.settings.os
        del self.info.settings.arch
        del self.info.settings.compiler
        del self.info.settings.build_type

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.compiler == "msvc":
            raise ConanInvalidConfiguration("Muster needs __int128, which MSVC does not have")
        if self.options.with_kube and not self.options.with_translate:
            raise ConanInvalidConfiguration("with_kube needs with_translate")

    def generate(self):
        # Finds what CMake needs to configure: Conan's Boost, libyaml and libcurl, if they are not the system's.
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update({
            "MUSTER_BUILD_TESTS": "OFF",
            "MUSTER_BUILD_EXAMPLES": "OFF",
            "MUSTER_TRANSLATE": "ON" if self.options.with_translate else "OFF",
            "MUSTER_KUBE": "ON" if self.options.with_kube else "OFF",
        })
        toolchain.generate()

    def build(self):
        pass

    def package(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.install()
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # The package's own CMake files define the targets: muster::core is compiled by the program.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "muster")]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
