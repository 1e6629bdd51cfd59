// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <boost/json/object.hpp>

#include <muster/document/json_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The application that a driver or executor of Spark belongs to, by its labels; KAI's podgrouper
/// makes one group of its pods. Empty for any other pod.
[[nodiscard]] inline std::string_view spark_application(const boost::json::object& pod) noexcept {
    const boost::json::object* const labels = find_object(find_object(&pod, "metadata"), "labels");
    return find(labels, "spark-app-name")
               ? translate::find_text(labels, "spark-app-selector").value_or(std::string_view{})
               : std::string_view{};
}

} // namespace translate
} // namespace v0_1
} // namespace muster
