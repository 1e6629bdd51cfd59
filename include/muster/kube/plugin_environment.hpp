// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// True if a variable can change which code a program runs: through the loader, the C library, a
/// shell, an interpreter or a runtime, through the search path (PATH), or through start-up files
/// (HOME). A kubeconfig may not set such a variable for a credential plugin, because the plugin is
/// allowed by its path. Invalid names, such as those with `=`, also return true.
[[nodiscard]] inline bool redirects_code(std::string_view name) {
    constexpr std::array prefixes{
        // loaders and C libraries
        std::string_view("LD_"), std::string_view("DYLD_"), std::string_view("_RLD"),
        std::string_view("GLIBC_"), std::string_view("GCONV_"), std::string_view("MALLOC_"),
        // shells
        std::string_view("BASH"), std::string_view("ZDOT"),
        // interpreters and runtimes
        std::string_view("PYTHON"), std::string_view("PERL"), std::string_view("RUBY"),
        std::string_view("GEM_"), std::string_view("BUNDLE_"), std::string_view("NODE_"),
        std::string_view("LUA_"), std::string_view("PHP"), std::string_view("TCL"),
        std::string_view("DOTNET_"), std::string_view("CORECLR_"), std::string_view("COR_"),
        std::string_view("JAVA_"), std::string_view("JDK_"), std::string_view("_JAVA_"),
        // modules of OpenSSL
        std::string_view("OPENSSL_")};
    constexpr std::array names{
        std::string_view("PATH"), std::string_view("HOME"), std::string_view("ENV"),
        std::string_view("IFS"), std::string_view("SHELLOPTS"), std::string_view("PS4"),
        std::string_view("CLASSPATH"), std::string_view("PROMPT_COMMAND"),
        std::string_view("LOCPATH"), std::string_view("NLSPATH"),
        // the interpreter and the modules of gcloud
        std::string_view("CLOUDSDK_PYTHON"), std::string_view("CLOUDSDK_PYTHON_ARGS"),
        std::string_view("CLOUDSDK_PYTHON_SITEPACKAGES"), std::string_view("CLOUDSDK_ROOT_DIR"),
        std::string_view("KUBERNETES_EXEC_INFO")};
    const auto is_letter = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    };
    if (name.empty() || !is_letter(name.front()) ||
        !std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); }))
        return true;
    return std::ranges::find(names, name) != names.end() ||
           std::ranges::any_of(prefixes,
                               [&](std::string_view each) { return name.starts_with(each); });
}

} // namespace kube
} // namespace v0_1
} // namespace muster
