#include "cluster/robust.h"

namespace fabricbench::cluster {

std::vector<double> medians_about(const std::vector<double>& values) {
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

float upper_median_of_parts(std::vector<OfPart>& values) {
  const auto other = [&](const OfPart& each) { return each.part != values.front().part; };
  if (std::none_of(values.begin(), values.end(), other)) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end(),
                     [](const OfPart& a, const OfPart& b) { return a.value < b.value; });
    return middle->value;
  }
  std::sort(values.begin(), values.end(), [](const OfPart& a, const OfPart& b) { return a.part < b.part; });
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

double binomial_tail(std::int64_t trials, double hit, std::int64_t least) {
  if (least <= 0 || hit >= 1) return 1;
  if (least > trials || hit <= 0) return 0;
  const auto n = static_cast<double>(trials);
  const auto k = static_cast<double>(least);
  double term = std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(hit) +
                         (n - k) * std::log1p(-hit));
  double sum = 0;
  for (std::int64_t hits = least; hits <= trials; ++hits) {
    sum += term;
    const double ratio = static_cast<double>(trials - hits) / static_cast<double>(hits + 1) * hit / (1 - hit);
    // Terms rise up to the mean and fall behind it: only there may the rest be left out.
    if (ratio < 1 && term < 1e-12 * sum) break;
    term *= ratio;
  }
  // So far below the mean that the first term is no number: the tail is nearly everything.
  if (sum == 0 && k < n * hit) return 1;
  return std::min(sum, 1.0);
}

}  // namespace fabricbench::cluster
