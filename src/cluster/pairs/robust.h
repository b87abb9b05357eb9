// Robust statistics on plain arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/statistics.h"

namespace fabricbench::cluster {

/// sqrt(pi / 2): the standard error of the median of many normal values over that of their mean.
constexpr double kMedianOverMeanError = 1.2533;

/// The value in place floor(n / 2) of the ascending order: of an even number the higher of the two in the middle.
/// `values` is not empty and is put out of order.
template <typename Number>
[[nodiscard]] Number upper_median(std::vector<Number>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The middle value, or the mean of the two in the middle. `values` is not empty and is put out of order.
template <typename Number>
[[nodiscard]] Number median_of(std::vector<Number>& values) {
  const Number upper = upper_median(values);
  if (values.size() % 2 == 1) return upper;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  return (upper + *std::max_element(values.begin(), middle)) / 2;
}

/// The standard deviation of normal noise, from the absolute deviations of its values. `deviations` is not empty and is
/// put out of order.
template <typename Number>
[[nodiscard]] double scale_by(std::vector<Number>& deviations) {
  return kDeviationsPerMad * static_cast<double>(median_of(deviations));
}

/// The value in place floor(share * n) of the ascending order, so that about that share of `values` does not exceed it;
/// `share` is from 0 to below 1. `values` is not empty and is put out of order.
template <typename Number>
[[nodiscard]] Number quantile(std::vector<Number>& values, double share) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

/// The fourth quintile of `values`: a robust estimate of what is usual where many values may be low for reasons of
/// their own. `values` is not empty and is put out of order.
template <typename Number>
[[nodiscard]] Number upper_bound_of_most(std::vector<Number>& values) {
  return quantile(values, 0.8);
}

/// The running median: for each value, the median of itself and of up to three neighbours on each side.
[[nodiscard]] inline std::vector<double> medians_about(const std::vector<double>& values) {
  constexpr std::ptrdiff_t kNeighbours = 3;  // on each side
  const auto size = static_cast<std::ptrdiff_t>(values.size());
  std::vector<double> medians;
  medians.reserve(values.size());
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    std::vector<double> about(values.begin() + std::max<std::ptrdiff_t>(i - kNeighbours, 0),
                              values.begin() + std::min(i + kNeighbours + 1, size));
    medians.push_back(median_of(about));
  }
  return medians;
}

/// A value that belongs to a part of the cluster, such as a leaf.
struct OfPart {
  std::int32_t part = 0;
  float value = 0;
};

/// The upper median of the parts' medians, so that one large slow part does not decide what is usual. If all values are
/// of one part, their upper median. `values` is not empty and is put out of order.
[[nodiscard]] inline float upper_median_of_parts(std::vector<OfPart>& values) {
  const auto other = [&](const OfPart& each) { return each.part != values.front().part; };
  if (std::ranges::none_of(values, other)) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end(),
                     [](const OfPart& a, const OfPart& b) { return a.value < b.value; });
    return middle->value;
  }
  std::ranges::sort(values, [](const OfPart& a, const OfPart& b) { return a.part < b.part; });
  std::vector<float> medians;
  std::vector<float> of_part;
  for (std::size_t begin = 0; begin < values.size(); begin += of_part.size()) {
    of_part.clear();
    for (std::size_t i = begin; i < values.size() && values[i].part == values[begin].part; ++i) {
      of_part.push_back(values[i].value);
    }
    medians.push_back(median_of(of_part));
  }
  return upper_median(medians);
}

}  // namespace fabricbench::cluster
