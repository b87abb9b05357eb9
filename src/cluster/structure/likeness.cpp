#include "cluster/structure/likeness.h"

#include <algorithm>
#include <cmath>

#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

constexpr int kMostDifference = 30;  // percent, that one partner counts
constexpr float kMostPercent = 200;
constexpr float kUsualPercent = 100;

using Class = std::vector<std::int32_t>;

std::uint8_t percent_of(float share) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(share * 100, 0.0F, kMostPercent)));
}

/// Half of a profile: the host's shares with every partner, from `first` on and `step` apart.
void take(std::span<const float> shares, std::size_t host, std::size_t first, std::size_t step,
          std::span<std::uint8_t> percent) {
  std::vector<float> known;
  for (std::size_t partner = 0; partner < percent.size(); ++partner) {
    const float share = shares[first + partner * step];
    if (partner != host && !std::isnan(share)) known.push_back(share);
  }
  const float best = known.empty() ? kUsualPercent / 100 : *std::max_element(known.begin(), known.end());
  const float mostly = known.empty() ? kUsualPercent / 100 : median_of(known);
  for (std::size_t partner = 0; partner < percent.size(); ++partner) {
    const float share = shares[first + partner * step];
    percent[partner] = percent_of(partner == host ? best : std::isnan(share) ? mostly : share);
  }
}

/// Empty where more than half of the hosts would have a class of their own.
std::vector<Class> classes_of(const Profiles& profiles, std::span<const std::int32_t> hosts, double alike) {
  std::vector<Class> classes;
  for (const std::int32_t host : hosts) {
    const auto own = std::find_if(classes.begin(), classes.end(),
                                  [&](const Class& each) { return profiles.difference(each.front(), host) < alike; });
    if (own != classes.end()) {
      own->push_back(host);
      continue;
    }
    classes.push_back({host});
    if (2 * classes.size() > hosts.size() + 1) return {};
  }
  return classes;
}

}  // namespace

Profiles::Profiles(std::span<const float> shares, std::size_t hosts) : hosts_(hosts), percent_(2 * hosts * hosts) {
  const std::span<std::uint8_t> all = percent_;
  for (std::size_t host = 0; host < hosts; ++host) {
    take(shares, host, host * hosts, 1, all.subspan(2 * host * hosts, hosts));
    take(shares, host, host, hosts, all.subspan((2 * host + 1) * hosts, hosts));
  }
}

double Profiles::difference(std::int32_t a, std::int32_t b) const {
  const std::size_t length = 2 * hosts_;
  const std::uint8_t* first = &percent_[static_cast<std::size_t>(a) * length];
  const std::uint8_t* second = &percent_[static_cast<std::size_t>(b) * length];
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < length; ++i) {
    sum += static_cast<std::uint32_t>(std::min(std::abs(int{first[i]} - int{second[i]}), kMostDifference));
  }
  return static_cast<double>(sum) / static_cast<double>(length);
}

std::vector<std::int32_t> in_order_of_likeness(const Profiles& profiles, std::span<const std::int32_t> hosts,
                                               double alike) {
  std::vector<Class> left = classes_of(profiles, hosts, alike);
  if (left.empty()) return {hosts.begin(), hosts.end()};
  std::vector<std::int32_t> order;
  auto next =
      std::max_element(left.begin(), left.end(), [](const Class& a, const Class& b) { return a.size() < b.size(); });
  while (true) {
    const std::int32_t last = next->front();
    order.insert(order.end(), next->begin(), next->end());
    left.erase(next);
    if (left.empty()) return order;
    next = std::min_element(left.begin(), left.end(), [&](const Class& a, const Class& b) {
      return profiles.difference(last, a.front()) < profiles.difference(last, b.front());
    });
  }
}

}  // namespace fabricbench::cluster
