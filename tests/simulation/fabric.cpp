#include "simulation/fabric.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace fabricbench::cluster {
namespace {

/// SplitMix64 of Steele, Lea and Flood: outputs look independent of each other, so that a reading depends on its
/// meeting only, and not on earlier readings.
std::uint64_t scramble(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// A sequence of random numbers for one purpose.
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t purpose, std::uint64_t first, std::uint64_t second = 0,
       std::uint64_t third = 0)
      : state_(scramble(scramble(scramble(scramble(seed) ^ purpose) ^ first) ^ (second << 32 | third))) {}

  std::uint64_t number() { return state_ = scramble(state_); }
  /// In (0, 1).
  double uniform() { return (static_cast<double>(number() >> 11) + 0.5) * 0x1p-53; }
  /// By Box and Muller.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

enum Purpose : std::uint64_t { kNoise = 1, kPath, kSpread, kMissing, kFlaps };

/// The period of the drift, in rounds.
constexpr double kDriftRounds = 30;

bool names_a_host(FaultKind kind) {
  switch (kind) {
    case FaultKind::kHost:
    case FaultKind::kNic:
    case FaultKind::kPair:
    case FaultKind::kDead:
    case FaultKind::kDeadPair:
    case FaultKind::kFlapping: return true;
    default: return false;
  }
}

bool names_two_hosts(FaultKind kind) { return kind == FaultKind::kPair || kind == FaultKind::kDeadPair; }

/// Whether a fault with this direction affects a flow that leaves the faulty thing (`sends`), or enters it.
bool hits(Direction direction, bool sends) {
  return direction == Direction::kBoth || (direction == Direction::kSends) == sends;
}

/// The syntax of a kind of fault: its name, the number of places, and whether a factor and a share follow.
struct FaultSyntax {
  FaultKind kind;
  int places;
  bool factor;
  bool share;
  bool direction;
};

const std::map<std::string, FaultSyntax, std::less<>>& fault_syntax() {
  static const std::map<std::string, FaultSyntax, std::less<>> syntax = {
      {"host", {FaultKind::kHost, 1, true, false, true}},
      {"nic", {FaultKind::kNic, 2, true, false, true}},
      {"pair", {FaultKind::kPair, 2, true, false, true}},
      {"leaf", {FaultKind::kLeaf, 1, true, false, true}},
      {"leaf-pair", {FaultKind::kLeafPair, 2, true, false, true}},
      {"spine", {FaultKind::kSpine, 2, true, false, false}},
      {"rail", {FaultKind::kRail, 1, true, false, false}},
      {"dead", {FaultKind::kDead, 1, false, false, false}},
      {"dead-pair", {FaultKind::kDeadPair, 2, false, false, false}},
      {"flapping", {FaultKind::kFlapping, 1, true, true, false}},
  };
  return syntax;
}

std::vector<std::string_view> split_at_colons(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

template <typename Number>
Number number_in(std::string_view fault, std::string_view part) {
  Number value{};
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (error == std::errc() && end == part.data() + part.size() && value >= 0) return value;
  throw std::invalid_argument(fmt::format("fault '{}': '{}' is not a number of 0 or more", fault, part));
}

std::optional<Direction> direction_named(std::string_view word) {
  if (word == "sends") return Direction::kSends;
  if (word == "receives") return Direction::kReceives;
  return std::nullopt;
}

void check(bool right, std::string_view what) {
  if (!right) throw std::invalid_argument(fmt::format("a simulated fabric: {}", what));
}

}  // namespace

Fault parse_fault(std::string_view text) {
  std::vector<std::string_view> parts = split_at_colons(text);
  const auto known = fault_syntax().find(parts.front());
  if (known == fault_syntax().end()) {
    throw std::invalid_argument(fmt::format(
        "fault '{}': '{}' is not one of dead, dead-pair, flapping, host, leaf, leaf-pair, nic, pair, rail, spine", text,
        parts.front()));
  }
  const FaultSyntax& syntax = known->second;
  Fault fault;
  fault.kind = syntax.kind;
  const std::optional<Direction> direction = direction_named(parts.back());
  if (direction && syntax.direction) {
    fault.direction = *direction;
    parts.pop_back();
  }
  const int wanted = 1 + syntax.places + (syntax.factor ? 1 : 0) + (syntax.share ? 1 : 0);
  if (static_cast<int>(parts.size()) != wanted) {
    throw std::invalid_argument(fmt::format("fault '{}': {} takes {} numbers, each after a colon, such as host:3:0.9",
                                            text, parts.front(), wanted - 1));
  }
  fault.place = number_in<std::int32_t>(text, parts[1]);
  if (syntax.places == 2) fault.other = number_in<std::int32_t>(text, parts[2]);
  const std::size_t after = 1 + static_cast<std::size_t>(syntax.places);
  if (syntax.factor) fault.factor = number_in<double>(text, parts[after]);
  if (syntax.share) fault.share = number_in<double>(text, parts[after + 1]);
  return fault;
}

Fabric::Fabric(FabricPlan plan) : plan_(std::move(plan)) {
  check(plan_.hosts >= 1 && plan_.rails >= 1 && plan_.spines >= 1, "at least 1 host, 1 rail and 1 spine are needed");
  check(plan_.leaf_size >= 0 && plan_.sigma >= 0 && plan_.spread >= 0,
        "leaf size, sigma and spread must not be negative");
  check(plan_.rate > 0 && plan_.outlier_factor > 0 && plan_.crossing > 0, "rates and factors must be above 0");
  check(plan_.oversubscription >= 1, "oversubscription must be at least 1");
  for (const double share : {plan_.outliers, plan_.missing, plan_.drift}) {
    check(share >= 0 && share < 1, "shares must be at least 0 and below 1");
  }
  check_faults();
  by_host_.resize(static_cast<std::size_t>(plan_.hosts));
  for (const Fault& fault : plan_.faults) {
    if (!names_a_host(fault.kind)) {
      others_.push_back(fault);
      continue;
    }
    by_host_[static_cast<std::size_t>(fault.place)].push_back(fault);
    if (names_two_hosts(fault.kind)) by_host_[static_cast<std::size_t>(fault.other)].push_back(fault);
  }
  for (std::int32_t host = 0; host < plan_.hosts; ++host) {
    Draw draw(plan_.seed, kSpread, static_cast<std::uint64_t>(host));
    own_rate_.push_back(std::exp(plan_.spread * draw.normal()));
  }
}

Sweep Fabric::empty_sweep() const {
  Sweep sweep;
  const std::size_t digits = fmt::format("{}", plan_.hosts - 1).size();
  for (std::int32_t host = 0; host < plan_.hosts; ++host) {
    sweep.hosts.push_back(fmt::format("node{:0{}}", host, std::max<std::size_t>(digits, 2)));
  }
  if (plan_.rails > 1) {
    sweep.rails.clear();
    for (std::int32_t rail = 0; rail < plan_.rails; ++rail) sweep.rails.push_back(fmt::format("rail{}", rail));
  }
  sweep.tests = {"simulated 4 MiB"};
  if (!plan_.leaves_known || plan_.leaf_size == 0) return sweep;
  for (std::int32_t leaf = 0; leaf < leaves(); ++leaf) sweep.leaves.push_back(fmt::format("leaf{:02}", leaf));
  for (std::int32_t host = 0; host < plan_.hosts; ++host) sweep.leaf_of.push_back(leaf_of(host));
  return sweep;
}

void Fabric::measure(std::span<const Pair> meetings, std::int32_t round, Sweep& sweep) const {
  const Load load = load_of(meetings);
  Reading reading;
  reading.round = round;
  reading.concurrent = static_cast<std::int32_t>(meetings.size());
  for (const Pair& meeting : meetings) {
    const bool failed = fails(meeting, round);
    for (std::int32_t rail = 0; rail < plan_.rails; ++rail) {
      reading.from_rail = reading.to_rail = static_cast<std::int16_t>(rail);
      add_reading(meeting, load, failed, reading, sweep);
      if (!plan_.both_ways) add_reading({meeting.second, meeting.first}, load, failed, reading, sweep);
    }
  }
}

/// From the first to the second, or of both ways together. `reading` has round and rails.
void Fabric::add_reading(const Pair& meeting, const Load& load, bool failed, Reading reading, Sweep& sweep) const {
  reading.from = meeting.first;
  reading.to = meeting.second;
  reading.both_ways = plan_.both_ways;
  const std::int32_t rail = reading.from_rail;
  if (failed) {
    reading.outcome = Outcome::kFailed;
    sweep.reasons.emplace_back(sweep.readings.size(), "no answer (simulated)");
  } else {
    const Way forth{reading.from, reading.to, rail, spine_of(reading.from, reading.to, rail)};
    const Way back{reading.to, reading.from, rail, spine_of(reading.to, reading.from, rail)};
    const double rate = rate_of(forth, load, reading.round);
    reading.rate = static_cast<float>(plan_.both_ways ? rate + rate_of(back, load, reading.round) : rate);
  }
  sweep.readings.push_back(reading);
}

std::int32_t Fabric::spine_of(std::int32_t from, std::int32_t to, std::int32_t rail) const {
  Draw draw(plan_.seed, kPath, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to),
            static_cast<std::uint64_t>(rail));
  return static_cast<std::int32_t>(draw.number() % static_cast<std::uint64_t>(plan_.spines));
}

std::size_t Fabric::uplink(std::int32_t leaf, std::int32_t spine) const {
  if (!plan_.collisions) return static_cast<std::size_t>(leaf);
  return static_cast<std::size_t>(leaf) * static_cast<std::size_t>(plan_.spines) + static_cast<std::size_t>(spine);
}

Fabric::Load Fabric::load_of(std::span<const Pair> meetings) const {
  Load load;
  if (leaves() < 2 || (plan_.oversubscription <= 1 && !plan_.collisions)) return load;
  const std::size_t uplinks = uplink(leaves() - 1, plan_.spines - 1) + 1;
  load.up.assign(uplinks, 0);
  load.down.assign(uplinks, 0);
  for (const Pair& meeting : meetings) {
    if (leaf_of(meeting.first) == leaf_of(meeting.second)) continue;
    for (std::int32_t rail = 0; rail < plan_.rails; ++rail) {
      for (const auto& [from, to] : {std::pair{meeting.first, meeting.second}, {meeting.second, meeting.first}}) {
        const std::int32_t spine = spine_of(from, to, rail);
        ++load.up[uplink(leaf_of(from), spine)];
        ++load.down[uplink(leaf_of(to), spine)];
      }
    }
  }
  return load;
}

double Fabric::share_of(const Load& load, const Way& way) const {
  if (load.up.empty() || leaf_of(way.from) == leaf_of(way.to)) return 1;
  double capacity = plan_.leaf_size * plan_.rails / plan_.oversubscription;  // in NICs
  if (plan_.collisions) capacity /= plan_.spines;
  const std::int32_t flows =
      std::max(load.up[uplink(leaf_of(way.from), way.spine)], load.down[uplink(leaf_of(way.to), way.spine)]);
  return flows > 0 ? std::min(1.0, capacity / flows) : 1;
}

double Fabric::rate_of(const Way& way, const Load& load, std::int32_t round) const {
  const bool crosses = leaf_of(way.from) != leaf_of(way.to);
  double factor = std::min(own_rate_[static_cast<std::size_t>(way.from)], own_rate_[static_cast<std::size_t>(way.to)]);
  if (crosses) factor = std::min(factor, plan_.crossing);
  factor = std::min({factor, share_of(load, way), after_faults(way, round)});
  Draw draw(plan_.seed, kNoise, static_cast<std::uint64_t>(round),
            static_cast<std::uint64_t>(way.from) * static_cast<std::uint64_t>(plan_.rails) +
                static_cast<std::uint64_t>(way.rail),
            static_cast<std::uint64_t>(way.to));
  factor *= std::exp(plan_.sigma * draw.normal());
  if (draw.uniform() < plan_.outliers) factor *= plan_.outlier_factor;
  factor *= 1 + plan_.drift * std::sin(2 * std::numbers::pi * round / kDriftRounds);
  return plan_.rate * factor;
}

double Fabric::after_faults(const Way& way, std::int32_t round) const {
  double factor = 1;
  for (const bool sends : {true, false}) {
    for (const Fault& fault : by_host_[static_cast<std::size_t>(sends ? way.from : way.to)]) {
      if (hits_host(fault, way, sends, round)) factor = std::min(factor, fault.factor);
    }
  }
  for (const Fault& fault : others_) {
    if (hits_beyond_hosts(fault, way)) factor = std::min(factor, fault.factor);
  }
  return factor;
}

/// Whether a fault at the sender (`sends`) or the receiver slows a flow.
bool Fabric::hits_host(const Fault& fault, const Way& way, bool sends, std::int32_t round) const {
  const std::int32_t own = sends ? way.from : way.to;
  const std::int32_t partner = sends ? way.to : way.from;
  switch (fault.kind) {
    case FaultKind::kHost: return hits(fault.direction, sends);
    case FaultKind::kNic: return fault.other == way.rail && hits(fault.direction, sends);
    case FaultKind::kPair: {
      const bool of_the_two = partner == (own == fault.place ? fault.other : fault.place);
      return of_the_two && hits(fault.direction, way.from == fault.place);
    }
    case FaultKind::kFlapping: {
      Draw draw(plan_.seed, kFlaps, static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(own),
                static_cast<std::uint64_t>(partner));
      return draw.uniform() < fault.share;
    }
    default: return false;
  }
}

bool Fabric::hits_beyond_hosts(const Fault& fault, const Way& way) const {
  const std::int32_t from = leaf_of(way.from);
  const std::int32_t to = leaf_of(way.to);
  if (fault.kind == FaultKind::kRail) return fault.place == way.rail;
  if (from == to) return false;
  switch (fault.kind) {
    case FaultKind::kLeaf:
      return (from == fault.place && hits(fault.direction, true)) ||
             (to == fault.place && hits(fault.direction, false));
    case FaultKind::kLeafPair:
      return (from == fault.place && to == fault.other && hits(fault.direction, true)) ||
             (from == fault.other && to == fault.place && hits(fault.direction, false));
    case FaultKind::kSpine: return way.spine == fault.other && (from == fault.place || to == fault.place);
    default: return false;
  }
}

bool Fabric::fails(const Pair& meeting, std::int32_t round) const {
  for (const std::int32_t own : {meeting.first, meeting.second}) {
    const std::int32_t partner = own == meeting.first ? meeting.second : meeting.first;
    for (const Fault& fault : by_host_[static_cast<std::size_t>(own)]) {
      if (fault.kind == FaultKind::kDead) return true;
      if (fault.kind == FaultKind::kDeadPair && fault.place + fault.other == own + partner) return true;
    }
  }
  if (plan_.missing <= 0) return false;
  Draw draw(plan_.seed, kMissing, static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(meeting.first),
            static_cast<std::uint64_t>(meeting.second));
  return draw.uniform() < plan_.missing;
}

void Fabric::check_faults() const {
  for (const Fault& fault : plan_.faults) {
    const bool by_leaf =
        fault.kind == FaultKind::kLeaf || fault.kind == FaultKind::kLeafPair || fault.kind == FaultKind::kSpine;
    const std::int32_t places = by_leaf ? leaves() : fault.kind == FaultKind::kRail ? plan_.rails : plan_.hosts;
    check(fault.place >= 0 && fault.place < places, "a fault is of a host, leaf or rail that it does not have");
    std::int32_t others = 1;
    if (names_two_hosts(fault.kind)) others = plan_.hosts;
    if (fault.kind == FaultKind::kNic) others = plan_.rails;
    if (fault.kind == FaultKind::kLeafPair) others = leaves();
    if (fault.kind == FaultKind::kSpine) others = plan_.spines;
    check(fault.other >= 0 && fault.other < others,
          "a fault's second number is a host, leaf, rail or spine that it does not have");
    const bool pair = names_two_hosts(fault.kind) || fault.kind == FaultKind::kLeafPair;
    check(!pair || fault.place != fault.other, "a pair is of two different hosts or leaves");
    check(fault.factor > 0, "a fault's factor is above 0; what carries nothing is dead");
  }
}

}  // namespace fabricbench::cluster
