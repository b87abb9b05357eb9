#include "cluster/pairs/structure/modes.h"

#include <algorithm>
#include <cmath>

namespace fabricbench::cluster {
namespace {

/// Values in bins as wide as the scale, smoothed over three of them; of sorted values.
std::vector<double> histogram_of(const std::vector<float>& sorted, double scale) {
  const double first = sorted.front();
  constexpr double kMostBins = 1 << 20;
  std::vector<double> bins(3 + static_cast<std::size_t>(std::min((sorted.back() - first) / scale, kMostBins)), 0);
  for (const float value : sorted) {
    const auto bin = 1 + static_cast<std::size_t>(std::min((value - first) / scale, kMostBins));
    bins[bin - 1] += 0.5;
    bins[bin] += 1;
    bins[bin + 1] += 0.5;
  }
  return bins;
}

}  // namespace

std::vector<Mode> modes_of(const std::vector<float>& sorted, double scale) {
  const std::vector<double> bins = histogram_of(sorted, scale);
  const auto centre_of = [&](std::size_t bin) { return sorted.front() + (static_cast<double>(bin) - 0.5) * scale; };
  std::vector<Mode> modes;
  std::size_t lowest = 0;  // since the last mode
  std::size_t last_lowest = 0;
  std::size_t highest = 0;
  bool rising = true;
  for (std::size_t bin = 1; bin < bins.size(); ++bin) {
    if (rising && bins[bin] >= bins[highest]) highest = bin;
    if (rising && bins[bin] < bins[highest]) {
      modes.push_back({centre_of(highest), (centre_of(lowest) + centre_of(last_lowest)) / 2, 0});
      rising = false;
      lowest = last_lowest = bin;
    } else if (!rising && bins[bin] <= bins[lowest]) {
      if (bins[bin] < bins[lowest]) lowest = bin;
      last_lowest = bin;
    } else if (!rising) {
      rising = true;
      highest = bin;
    }
  }
  if (rising) modes.push_back({centre_of(highest), (centre_of(lowest) + centre_of(last_lowest)) / 2, 0});
  std::size_t place = 0;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const double end = i + 1 < modes.size() ? modes[i + 1].valley_before : INFINITY;
    const std::size_t begin = place;
    while (place < sorted.size() && sorted[place] < end) ++place;
    modes[i].values = place - begin;
  }
  return modes;
}

}  // namespace fabricbench::cluster
