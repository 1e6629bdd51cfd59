// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/gangs/loss.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The gang APIs that can be written, each with the version whose words it takes.
enum class target : std::uint8_t {
    t9k,
    ack_1_30,
    ack_1_31,
    scheduler_plugins,
    volcano,
    koordinator,
    kai_0_14,
    kai_0_15,
    workload_1_35,
    workload_1_36,
    workload_1_37,
    grove,
    /// Plain pods with the marks that their own API gave them.
    pods,
};

/// Every target with the name that users type.
inline constexpr std::array<std::pair<target, std::string_view>, 13> targets{{
    {target::t9k, "t9k"},
    {target::ack_1_30, "ack-1.30"},
    {target::ack_1_31, "ack-1.31"},
    {target::scheduler_plugins, "scheduler-plugins"},
    {target::volcano, "volcano"},
    {target::koordinator, "koordinator"},
    {target::kai_0_14, "kai-0.14"},
    {target::kai_0_15, "kai-0.15"},
    {target::workload_1_35, "workload-1.35"},
    {target::workload_1_36, "workload-1.36"},
    {target::workload_1_37, "workload-1.37"},
    {target::grove, "grove"},
    {target::pods, "pods"},
}};

/// Whose reading of Grove is meant where the two differ; never guessed from an input.
enum class grove_dialect : std::uint8_t {
    /// As the walk-through that stands in Muster's tests prints it.
    seed,
    /// As Grove merged it.
    upstream,
};

/// Why an object would be refused by its target.
struct violation {
    std::string object; ///< kind namespace/name of what would have been written
    std::string field;
    std::string message; ///< what is wrong and what the target expects
};

/// What a translation gives: complete manifests in the order in which they are to be created. With
/// a violation the objects are not to be used.
struct written {
    std::vector<boost::json::object> objects;
    std::vector<loss> losses;
    std::vector<violation> violations;
};

} // namespace translate
} // namespace v0_1
} // namespace muster
