// SPDX-License-Identifier: BSD-3-Clause
#include "percentiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace peercoll::bench {

namespace {

double percentile(const std::vector<double>& sorted, double fraction) {
    const double position = fraction * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(position));
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double weight = position - static_cast<double>(below);
    return sorted[below] * (1 - weight) + sorted[above] * weight;
}

}  // namespace

Spread spread_of(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::sort(samples.begin(), samples.end());
    Spread spread;
    spread.min = samples.front();
    spread.median = percentile(samples, 0.5);
    spread.p90 = percentile(samples, 0.9);
    spread.p99 = percentile(samples, 0.99);
    spread.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
    return spread;
}

}  // namespace peercoll::bench
