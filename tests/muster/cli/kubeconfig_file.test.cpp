// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/stat.h>

#include "../../../examples/muster/live/kubeconfig_file.hpp"

namespace kubeconfig_file_test {

namespace {

namespace fs = std::filesystem;

/// A temporary folder, removed by the destructor.
struct folder {
    folder() {
        std::string name = (fs::temp_directory_path() / "muster-kubeconfig-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() { fs::remove_all(path); }
    [[nodiscard]] std::string operator/(const char* name) const { return (path / name).string(); }
    [[nodiscard]] auto files() const {
        return std::distance(fs::directory_iterator(path), fs::directory_iterator());
    }
    fs::path path;
};

std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

unsigned mode(const std::string& path) {
    struct stat found {};
    REQUIRE(::stat(path.c_str(), &found) == 0);
    return found.st_mode & 0777U;
}

TEST_CASE("a kubeconfig of another program is never replaced") {
    const folder here;
    const std::string path = here / "config";
    put(path, "apiVersion: v1\nkind: Config\n");
    const auto wrong = cli::write_kubeconfig(path, "new\n");
    REQUIRE(wrong);
    CHECK(wrong->find(path + ": exists and was not written by muster up") == 0);
    CHECK(read(path) == "apiVersion: v1\nkind: Config\n");
    CHECK(here.files() == 1);

    // A link to it is not replaced either.
    fs::create_symlink(path, here / "link");
    CHECK(cli::write_kubeconfig(here / "link", "new\n"));
    CHECK(fs::is_symlink(here / "link"));
    // A file shorter than the marker is not replaced either.
    put(path, "# Written by muster");
    CHECK(cli::write_kubeconfig(path, "new\n"));
    CHECK(cli::write_kubeconfig(here.path.string(), "new\n"));
    CHECK(cli::write_kubeconfig("/dev/null", "new\n"));
}

TEST_CASE("a kubeconfig that muster up wrote is replaced, and others cannot read it") {
    const folder here;
    const std::string path = here / "config";
    CHECK_FALSE(cli::write_kubeconfig(path, "old\n"));
    CHECK(read(path) == std::string(cli::kubeconfig_marker) + "old\n");
    CHECK(mode(path) == 0600);
    fs::permissions(path, fs::perms(0644));
    CHECK_FALSE(cli::write_kubeconfig(path, "new\n"));
    CHECK(read(path) == std::string(cli::kubeconfig_marker) + "new\n");
    CHECK(mode(path) == 0600);
    CHECK(here.files() == 1);
}

TEST_CASE("an empty file, as mktemp makes it, is replaced") {
    const folder here;
    const std::string path = here / "config";
    put(path, "");
    CHECK_FALSE(cli::write_kubeconfig(path, "new\n"));
    CHECK(mode(path) == 0600);
}

TEST_CASE("a reader that has the file open keeps the old text") {
    const folder here;
    const std::string path = here / "config";
    REQUIRE_FALSE(cli::write_kubeconfig(path, "old\n"));
    std::ifstream open(path);
    REQUIRE_FALSE(cli::write_kubeconfig(path, "new\n"));
    CHECK(std::string(std::istreambuf_iterator<char>(open), {}) ==
          std::string(cli::kubeconfig_marker) + "old\n");
}

TEST_CASE("a missing folder is an error that names the folder and the reason") {
    const folder here;
    const auto wrong = cli::write_kubeconfig(here / "no/config", "new\n");
    REQUIRE(wrong);
    CHECK(wrong->find("No such file or directory") != std::string::npos);
    CHECK(here.files() == 0);
}

} // namespace

} // namespace kubeconfig_file_test
