#include "cluster/pairs/robust.h"

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

}  // namespace fabricbench::cluster
