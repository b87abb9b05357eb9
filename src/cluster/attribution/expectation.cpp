#include "cluster/attribution/expectation.h"

#include <algorithm>

#include "cluster/robust.h"

namespace fabricbench::cluster {

double expected_of(const Sweep& sweep, std::size_t place, const VerdictSettings& settings) {
  if (settings.expected > 0) return settings.expected;
  double slower = 0;
  for (const bool receiver : {false, true}) {
    const Route* route = sweep.route_of(place, receiver);
    if (route == nullptr || route->port_rate <= 0) continue;
    slower = slower > 0 ? std::min(slower, route->port_rate) : route->port_rate;
  }
  return slower * settings.expected_of_port;
}

std::vector<double> expected_by_stratum(const Model& model) {
  std::vector<double> expected(model.strata.size(), model.settings.expected);
  if (model.settings.expected > 0 || model.settings.expected_of_port <= 0) return expected;
  std::vector<std::vector<double>> known(expected.size());
  for (const Point& point : model.points) {
    const double each = expected_of(*model.sweep, static_cast<std::size_t>(point.reading), model.settings);
    if (each > 0) known[static_cast<std::size_t>(point.stratum)].push_back(each);
  }
  for (std::size_t stratum = 0; stratum < known.size(); ++stratum) {
    if (!known[stratum].empty()) expected[stratum] = median_of(known[stratum]);
  }
  return expected;
}

}  // namespace fabricbench::cluster
