// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <muster/document/diagnostic.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

namespace detail {

/// Variables that a kubeconfig may set for a credential plugin: each selects an account, a region,
/// a credential, a proxy or a language. A variable belongs here only if its value cannot change
/// which code the plugin runs: no search path, no file that names programs (AWS_CONFIG_FILE,
/// CLOUDSDK_CONFIG, XDG_CONFIG_HOME), no option of an interpreter or a runtime. Certificate
/// authorities are left out: with a proxy, they would let the author of a kubeconfig read what the
/// plugin sends.
inline constexpr std::array plugin_variables{
    // aws eks get-token, aws-iam-authenticator
    std::string_view("AWS_ACCESS_KEY_ID"),
    std::string_view("AWS_DEFAULT_PROFILE"),
    std::string_view("AWS_DEFAULT_REGION"),
    std::string_view("AWS_EC2_METADATA_DISABLED"),
    std::string_view("AWS_PROFILE"),
    std::string_view("AWS_REGION"),
    std::string_view("AWS_ROLE_ARN"),
    std::string_view("AWS_ROLE_SESSION_NAME"),
    std::string_view("AWS_SECRET_ACCESS_KEY"),
    std::string_view("AWS_SESSION_TOKEN"),
    std::string_view("AWS_STS_REGIONAL_ENDPOINTS"),
    std::string_view("AWS_USE_DUALSTACK_ENDPOINT"),
    std::string_view("AWS_USE_FIPS_ENDPOINT"),
    std::string_view("AWS_WEB_IDENTITY_TOKEN_FILE"),
    // gke-gcloud-auth-plugin. Credential files may name programs, which run only if
    // GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES is set.
    std::string_view("CLOUDSDK_ACTIVE_CONFIG_NAME"),
    std::string_view("CLOUDSDK_COMPUTE_REGION"),
    std::string_view("CLOUDSDK_COMPUTE_ZONE"),
    std::string_view("CLOUDSDK_CORE_ACCOUNT"),
    std::string_view("CLOUDSDK_CORE_DISABLE_PROMPTS"),
    std::string_view("CLOUDSDK_CORE_PROJECT"),
    std::string_view("GOOGLE_APPLICATION_CREDENTIALS"),
    std::string_view("GOOGLE_CLOUD_PROJECT"),
    std::string_view("USE_GKE_GCLOUD_AUTH_PLUGIN"),
    // kubelogin of Azure
    std::string_view("AAD_LOGIN_METHOD"),
    std::string_view("AAD_SERVICE_PRINCIPAL_CLIENT_CERTIFICATE"),
    std::string_view("AAD_SERVICE_PRINCIPAL_CLIENT_CERTIFICATE_PASSWORD"),
    std::string_view("AAD_SERVICE_PRINCIPAL_CLIENT_ID"),
    std::string_view("AAD_SERVICE_PRINCIPAL_CLIENT_SECRET"),
    std::string_view("AAD_USER_PRINCIPAL_NAME"),
    std::string_view("AAD_USER_PRINCIPAL_PASSWORD"),
    std::string_view("AZURE_AUTHORITY_HOST"),
    std::string_view("AZURE_CLIENT_CERTIFICATE_PASSWORD"),
    std::string_view("AZURE_CLIENT_CERTIFICATE_PATH"),
    std::string_view("AZURE_CLIENT_ID"),
    std::string_view("AZURE_CLIENT_SECRET"),
    std::string_view("AZURE_FEDERATED_TOKEN_FILE"),
    std::string_view("AZURE_PASSWORD"),
    std::string_view("AZURE_SUBSCRIPTION_ID"),
    std::string_view("AZURE_TENANT_ID"),
    std::string_view("AZURE_USERNAME"),
    // Alibaba Cloud, DigitalOcean, Oracle Cloud, Scaleway
    std::string_view("ALIBABA_CLOUD_ACCESS_KEY_ID"),
    std::string_view("ALIBABA_CLOUD_ACCESS_KEY_SECRET"),
    std::string_view("ALIBABA_CLOUD_PROFILE"),
    std::string_view("ALIBABA_CLOUD_ROLE_ARN"),
    std::string_view("ALIBABA_CLOUD_SECURITY_TOKEN"),
    std::string_view("DIGITALOCEAN_ACCESS_TOKEN"),
    std::string_view("OCI_CLI_AUTH"),
    std::string_view("OCI_CLI_PROFILE"),
    std::string_view("OCI_CLI_REGION"),
    std::string_view("SCW_ACCESS_KEY"),
    std::string_view("SCW_DEFAULT_PROJECT_ID"),
    std::string_view("SCW_DEFAULT_REGION"),
    std::string_view("SCW_PROFILE"),
    std::string_view("SCW_SECRET_KEY"),
    // client-keystone-auth
    std::string_view("OS_APPLICATION_CREDENTIAL_ID"),
    std::string_view("OS_APPLICATION_CREDENTIAL_NAME"),
    std::string_view("OS_APPLICATION_CREDENTIAL_SECRET"),
    std::string_view("OS_AUTH_URL"),
    std::string_view("OS_DOMAIN_NAME"),
    std::string_view("OS_PASSWORD"),
    std::string_view("OS_PROJECT_ID"),
    std::string_view("OS_PROJECT_NAME"),
    std::string_view("OS_REGION_NAME"),
    std::string_view("OS_USERNAME"),
    std::string_view("OS_USER_DOMAIN_NAME"),
    // proxies
    std::string_view("ALL_PROXY"),
    std::string_view("HTTPS_PROXY"),
    std::string_view("HTTP_PROXY"),
    std::string_view("NO_PROXY"),
    std::string_view("all_proxy"),
    std::string_view("http_proxy"),
    std::string_view("https_proxy"),
    std::string_view("no_proxy"),
    // locale
    std::string_view("LANG"),
    std::string_view("LC_ALL"),
};

} // namespace detail

/// Returns true if a kubeconfig may set a variable for a credential plugin. The plugin is allowed
/// by its path, so a variable must not change which code it runs. All other names return false.
[[nodiscard]] constexpr bool is_plugin_variable(std::string_view name) noexcept {
    return std::ranges::find(detail::plugin_variables, name) != detail::plugin_variables.end();
}

/// Returns the error about a variable that a kubeconfig may not set.
[[nodiscard]] inline std::string refused_variable_text(std::string_view name) {
    return "the variable " + codec::in_quotes(name) +
           " may not be set for a credential plugin: it is not among the variables that cannot "
           "change which code runs (set it in a script that is allowed as the plugin)";
}

} // namespace kube
} // namespace v0_1
} // namespace muster
