// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cli {

/// First line of every kubeconfig that `muster up` writes. Only a file that begins with it may be
/// replaced; `kubectl config` drops it from a file that it changes.
inline constexpr std::string_view kubeconfig_marker =
    "# Written by muster up, which replaces this file when it starts.\n";

/// Returns why the file at `path` must not be replaced, or nullopt if it may be. An absent file and
/// an empty one may be replaced.
[[nodiscard]] inline std::optional<std::string> refuse_to_replace(const std::string& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0)
        return errno == ENOENT ? std::nullopt
                               : std::optional(path + ": " + std::string(std::strerror(errno)));
    if (!S_ISREG(found.st_mode))
        return path + ": not a regular file (expected a path for a new kubeconfig)";
    if (found.st_size == 0)
        return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    std::string start(kubeconfig_marker.size(), '\0');
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    if (file && start == kubeconfig_marker)
        return std::nullopt;
    return path +
           ": exists and was not written by muster up (expected a path for a new kubeconfig: "
           "choose another with --kubeconfig, or move the file away)";
}

/// Writes the marker and `text` to `path` with mode 0600: the file grants full access to the
/// cluster. Writes a temporary file in the same folder and renames it, so a reader sees the old
/// file or the new one. Returns an error message, or nullopt.
[[nodiscard]] inline std::optional<std::string> write_kubeconfig(const std::string& path,
                                                                 std::string_view text) {
    if (auto refusal = refuse_to_replace(path))
        return refusal;
    std::string beside = path + ".XXXXXX";
    const auto failed = [&] {
        return path + ": cannot be written: " + std::string(std::strerror(errno));
    };
    const int file = ::mkstemp(beside.data());
    if (file < 0)
        return failed();
    const std::string whole = std::string(kubeconfig_marker).append(text);
    const bool written =
        ::fchmod(file, S_IRUSR | S_IWUSR) == 0 &&
        ::write(file, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size());
    if (::close(file) == 0 && written && std::rename(beside.c_str(), path.c_str()) == 0)
        return std::nullopt;
    auto wrong = failed();
    ::unlink(beside.c_str());
    return wrong;
}

} // namespace cli
