// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/core/request_reader.hpp>
#include <muster/apis/shares/share_objects.hpp>
#include <muster/devices/share_allocator.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/testing/random.hpp>
#include <support/settings.hpp>

/// Objects and texts for the tests of readers of shared devices.
namespace share_texts {

using namespace muster::codec;

/// Reads the containers of a pod's `spec`, init containers first. Reports no findings, as the
/// reader of pods reports them. O(spec).
[[nodiscard]] inline std::vector<container_resources> read_container_resources(const document& of) {
    std::vector<container_resources> read;
    diagnostics aside(0);
    object_reader pod(of, aside);
    const field spec_at = pod.optional("spec");
    object_reader spec = spec_at.as_object();
    for (const bool is_init : {true, false}) {
        const field list_at =
            is_init ? spec.optional("initContainers") : spec.optional("containers");
        const array_reader list = list_at.as_array();
        list.for_each_object([&](object_reader& each) {
            std::vector<std::string> unsupported;
            container_resources& to = read.emplace_back();
            to.name = each.optional("name").as_string().value_or(std::string_view{});
            to.amounts = read_resources(each.optional("resources"), unsupported);
            to.is_init = is_init;
            each.ignore_rest();
        });
    }
    spec.ignore_rest();
    pod.ignore_rest();
    return read;
}

/// Reads an object of one document, and keeps its findings.
struct read_object {
    diagnostics out;
    std::vector<document> documents;
    object_metadata metadata;
    std::vector<container_resources> containers;

    explicit read_object(const std::string& text) {
        documents = read_documents("f", text, out);
        REQUIRE(documents.size() == 1);
        reading_context context;
        object_reader root(documents[0], out);
        metadata = read_metadata(root, true, context);
        metadata.where = {&documents[0], {}};
        containers = read_container_resources(documents[0]);
        root.ignore_rest();
    }

    [[nodiscard]] std::string findings() const {
        std::string text;
        for (const diagnostic& finding : out.findings())
            text += to_text(finding) + '\n';
        return text;
    }
};

/// A node or pod `x` with one annotation.
[[nodiscard]] inline object_metadata annotated(std::string_view key, const std::string& value) {
    object_metadata made;
    made.key = {"", "x"};
    made.annotations.set(std::string(key), value);
    return made;
}

/// A pod with limits of its containers, in the flow style of YAML.
[[nodiscard]] inline std::string pod_text(const std::vector<std::string>& limits,
                                          const std::string& annotations = "{}") {
    std::string text =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns, annotations: " +
        annotations + "}\nspec:\n  containers:\n";
    for (std::size_t index = 0; index < limits.size(); ++index)
        text += "  - {name: c" + std::to_string(index) + ", resources: {limits: " + limits[index] +
                "}}\n";
    return text;
}

/// Returns the text with one to four random edits.
[[nodiscard]] inline std::string mutated(std::string text, muster::testing::random& chance) {
    static const std::vector<std::string> words = {",",
                                                   ":",
                                                   ";",
                                                   "-1",
                                                   "0",
                                                   "99999999999999999999",
                                                   "9223372036854775807",
                                                   "",
                                                   "\"",
                                                   "{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   "null",
                                                   "\\",
                                                   "true",
                                                   "GPU-0",
                                                   "-",
                                                   "1e400",
                                                   "\xff",
                                                   "\n",
                                                   " ",
                                                   "gpu",
                                                   "minor",
                                                   "0.5",
                                                   "2147483648",
                                                   "[0,1]",
                                                   "::;;,,"};
    for (auto edits = chance.between(1, 4); edits > 0; --edits) {
        const std::size_t at = text.empty() ? 0 : chance.below(text.size());
        const std::size_t length = static_cast<std::size_t>(chance.between(0, 6));
        switch (chance.between(0, 3)) {
        case 0:
            text.replace(at, length, words[chance.below(words.size())]);
            break;
        case 1:
            text.insert(at, words[chance.below(words.size())]);
            break;
        case 2:
            text.insert(at, text.substr(chance.below(text.size() + 1), 20));
            break;
        default:
            text.erase(at, length);
            break;
        }
    }
    return text;
}

/// Checks the invariants of the devices of any register.
inline void check_sound(const node_shares& node) {
    std::set<std::string> ids;
    for (const muster::shared_device& device : node.devices) {
        REQUIRE(ids.insert(device.id).second);
        REQUIRE(device.memory >= 0);
        REQUIRE(device.slots.value_or(0) >= 0);
        REQUIRE(device.cores.value_or(0) >= 0);
        REQUIRE(device.used.memory >= 0);
        REQUIRE((device.is_partitioned || device.instances.empty()));
        for (const muster::gpu_instance& each : device.instances) {
            REQUIRE(each.slices != 0);
            REQUIRE(each.memory >= 0);
            REQUIRE(each.cores.value_or(0) >= 0);
        }
    }
}

inline void check_sound(const pod_shares& pod) {
    REQUIRE((pod.unread.empty() || pod.shares.empty()));
    for (const held_share& share : pod.shares) {
        REQUIRE(!share.device.empty());
        REQUIRE(muster::units_of(share.memory, 1000) >= 0);
        REQUIRE(share.cores >= 0);
    }
}

/// Allocates the requests twice and checks that no device gets more than it has.
inline void check_capacities(const node_shares& node, const pod_share_requests& pod,
                             const muster::share_rules& rules) {
    std::vector<muster::share_request> requests;
    for (int copy = 0; copy < 2; ++copy)
        for (const container_share& each : pod.requests)
            requests.push_back(each.request);
    const auto answer = muster::allocate_shares(node.devices, requests, rules, 500);
    const auto after = muster::with_shares(node.devices, requests, answer);
    for (std::size_t index = 0; index < after.size(); ++index) {
        const auto& device = after[index];
        if (device.used == node.devices[index].used)
            continue;
        REQUIRE(device.healthy);
        REQUIRE(device.used.memory <= device.memory);
        REQUIRE(device.used.slots <= device.slots.value_or(device.used.slots));
        REQUIRE(device.used.cores <= device.cores.value_or(device.used.cores));
    }
}

} // namespace share_texts
