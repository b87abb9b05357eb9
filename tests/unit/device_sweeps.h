// Sweeps of clusters whose GPUs and NICs go from host to host, as a scheduler gives them to one pod after another.
// Shares nothing with the simulator of tests/simulation.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cluster/pairs/readings.h"

namespace fabricbench::cluster {

/// How devices come to be of several hosts.
enum class Sharing : std::uint8_t {
  kPods,      ///< each job has hosts of its own names, on the same nodes
  kTurns,     ///< each job gives the same hosts other nodes' devices
  kWithin,    ///< each host takes one of its own four GPUs for each job
  kConstant,  ///< each host always has the same
  kPairs,     ///< two hosts always have the same, as two containers of a node do
};

/// What is slow, if anything.
enum class Planted : std::uint8_t { kNothing, kNic, kGpu, kHost };

struct DeviceCase {
  int hosts = 16;
  int jobs = 4;
  Sharing sharing = Sharing::kTurns;
  Planted planted = Planted::kGpu;
  double noise = 0.02;
  double cap = 0.6;                ///< share of a healthy rate that what is slow reaches
  bool sends = true;               ///< it is slow when it sends
  bool receives = true;            ///< and when it receives
  double across = 1;               ///< rate between the two halves of the nodes, over that within one
  double tails = 0;                ///< share of readings that are slow for once
  bool nic_goes_with_gpu = false;  ///< a GPU always uses the same NIC
  unsigned seed = 1;
};

/// A sweep, and what was planted.
struct DeviceSweep {
  Sweep sweep;
  std::int32_t device = -1;  ///< by its place in Sweep::devices
  std::int32_t host = -1;
  std::vector<std::int32_t> hosts_of_device;  ///< that had it, ascending
};

class DeviceSweepMaker {
 public:
  explicit DeviceSweepMaker(const DeviceCase& what) : what_(what), random_(what.seed) {}

  DeviceSweep make() {
    const int names = what_.hosts;
    for (int i = 0; i < names; ++i) made_.sweep.hosts.push_back("n" + std::to_string(i));
    made_.sweep.tests = {"test 1 MiB"};
    nodes_ = what_.sharing == Sharing::kPods ? names / what_.jobs : names;
    const int gpus = what_.sharing == Sharing::kWithin ? 4 * nodes_ : nodes_;
    for (int i = 0; i < nodes_; ++i) add_device(DeviceKind::kNic, i);
    for (int i = 0; i < gpus; ++i) add_device(DeviceKind::kGpu, i);
    if (what_.planted == Planted::kHost) made_.host = draw(names);
    if (what_.planted == Planted::kNic) made_.device = draw(nodes_);
    if (what_.planted == Planted::kGpu) made_.device = nodes_ + draw(nodes_);
    for (int job = 0; job < what_.jobs; ++job) measure(job);
    auto& had = made_.hosts_of_device;
    std::sort(had.begin(), had.end());
    had.erase(std::unique(had.begin(), had.end()), had.end());
    return std::move(made_);
  }

 private:
  struct Place {
    std::int32_t host = 0;
    int node = 0;
    std::int32_t nic = 0;
    std::int32_t gpu = 0;
    std::int32_t route = 0;
  };

  int draw(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  void add_device(DeviceKind kind, int number) {
    const std::string id = (kind == DeviceKind::kNic ? "0x" : "GPU-") + std::to_string(1000 + number);
    made_.sweep.devices.push_back({kind, id, kind == DeviceKind::kNic ? "mlx5_0" : "0000:17:00.0"});
  }

  /// The nodes in another order, those of each half among themselves.
  std::vector<int> shuffled() {
    std::vector<int> order(static_cast<std::size_t>(nodes_));
    std::iota(order.begin(), order.end(), 0);
    const auto middle = order.begin() + (nodes_ + 1) / 2;
    std::shuffle(order.begin(), middle, random_);
    std::shuffle(middle, order.end(), random_);
    return order;
  }

  std::vector<Place> places_of(int job) {
    const bool in_pairs = what_.sharing == Sharing::kPairs;
    const bool stay = what_.sharing == Sharing::kConstant || what_.sharing == Sharing::kWithin || in_pairs;
    std::vector<int> nics = shuffled();
    std::vector<int> gpus = what_.nic_goes_with_gpu ? nics : shuffled();
    if (stay) {
      std::iota(nics.begin(), nics.end(), 0);
      gpus = nics;
    }
    std::vector<Place> places;
    for (int i = 0; i < nodes_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      Place place;
      place.host = what_.sharing == Sharing::kPods ? job * nodes_ + i : i;
      place.node = nics[at];
      place.nic = in_pairs ? nics[at] / 2 : nics[at];
      place.gpu = nodes_ + (what_.sharing == Sharing::kWithin ? gpus[at] + nodes_ * draw(4) : gpus[at]);
      place.route = static_cast<std::int32_t>(made_.sweep.routes.size());
      made_.sweep.routes.push_back({{place.nic, place.gpu, Route::kNone}, 0});
      if (place.nic == made_.device || place.gpu == made_.device) made_.hosts_of_device.push_back(place.host);
      places.push_back(place);
    }
    return places;
  }

  double share_of(const Place& place, bool sends) const {
    const bool bad = (what_.planted == Planted::kHost && place.host == made_.host) ||
                     (made_.device >= 0 && (place.nic == made_.device || place.gpu == made_.device));
    return bad && (sends ? what_.sends : what_.receives) ? what_.cap : 1;
  }

  /// All pairs of the job's hosts, round by round on the circle.
  void measure(int job) {
    const std::vector<Place> places = places_of(job);
    const int participants = nodes_ + nodes_ % 2;
    for (int round = 0; round < participants - 1; ++round) {
      for (int i = 0; i < participants / 2; ++i) {
        const int a = i == 0 ? participants - 1 : (round + i) % (participants - 1);
        const int b = (round + participants - 1 - i) % (participants - 1);
        if (a >= nodes_ || b >= nodes_) continue;
        add(places[static_cast<std::size_t>(a)], places[static_cast<std::size_t>(b)], job * participants + round);
        add(places[static_cast<std::size_t>(b)], places[static_cast<std::size_t>(a)], job * participants + round);
      }
    }
  }

  void add(const Place& from, const Place& to, int round) {
    constexpr double kHealthy = 25e9;
    const int half = (nodes_ + 1) / 2;
    const bool apart = (from.node < half) != (to.node < half);
    double share = std::min({apart ? what_.across : 1.0, share_of(from, true), share_of(to, false)});
    if (std::uniform_real_distribution<double>(0, 1)(random_) < what_.tails) share *= 0.6;
    Reading reading;
    reading.from = from.host;
    reading.to = to.host;
    reading.round = round;
    reading.concurrent = nodes_ / 2;
    reading.rate =
        static_cast<float>(kHealthy * share * std::exp(what_.noise * std::normal_distribution<double>()(random_)));
    made_.sweep.readings.push_back(reading);
    made_.sweep.routes_of.push_back({from.route, to.route});
  }

  DeviceCase what_;
  std::mt19937 random_;
  int nodes_ = 0;
  DeviceSweep made_;
};

inline DeviceSweep device_sweep(const DeviceCase& what) { return DeviceSweepMaker(what).make(); }

}  // namespace fabricbench::cluster
