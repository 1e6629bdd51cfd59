// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace bench {

/// The value below which that share of the values lies; 0 of none.
[[nodiscard]] inline double percentile(std::vector<double> values, double share) {
    if (values.empty())
        return 0.0;
    const auto last = static_cast<double>(values.size() - 1);
    const auto at = static_cast<std::ptrdiff_t>(std::llround(share * last));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
}

[[nodiscard]] inline double median(std::vector<double> values) {
    return percentile(std::move(values), 0.5);
}

[[nodiscard]] inline double mean(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values)
        sum += value;
    return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

/// The exponent e of cost = c * size^e, by least squares over the logarithms.
[[nodiscard]] inline double growth_exponent(const std::vector<std::pair<double, double>>& costs) {
    double mean_x = 0.0;
    double mean_y = 0.0;
    for (const auto& [size, cost] : costs) {
        mean_x += std::log(size) / static_cast<double>(costs.size());
        mean_y += std::log(cost) / static_cast<double>(costs.size());
    }
    double above = 0.0;
    double below = 0.0;
    for (const auto& [size, cost] : costs) {
        above += (std::log(size) - mean_x) * (std::log(cost) - mean_y);
        below += (std::log(size) - mean_x) * (std::log(size) - mean_x);
    }
    return below > 0.0 ? above / below : 0.0;
}

} // namespace bench
