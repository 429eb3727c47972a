// SPDX-License-Identifier: BSD-3-Clause
// Order statistics of samples.
#pragma once

#include <vector>

namespace peercoll::bench {

struct Spread {
    double min = 0;
    double median = 0;
    double mean = 0;
    double p90 = 0;
    double p99 = 0;
};

// Linear interpolation between the two samples around a percentile. All zero for no samples.
Spread spread_of(std::vector<double> samples);

}  // namespace peercoll::bench
