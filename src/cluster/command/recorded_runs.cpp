#include "cluster/command/recorded_runs.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <tuple>

namespace fabricbench::cluster {
namespace {

constexpr std::int32_t kMostReasonsOfHost = 8;

/// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
class Digest {
 public:
  explicit Digest(std::uint64_t value) : value_(value) {}

  void add(std::string_view text) {
    for (const char character : text) add_byte(static_cast<unsigned char>(character));
    add_byte(0);
  }
  void add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<unsigned char>(number >> shift));
  }
  void add(const std::optional<std::int64_t>& number) { add(static_cast<std::uint64_t>(number.value_or(-1))); }
  void add(const std::optional<double>& number) { add(std::bit_cast<std::uint64_t>(number.value_or(-1))); }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  void add_byte(unsigned char byte) {
    constexpr std::uint64_t kPrime = 0x100000001b3;
    value_ = (value_ ^ byte) * kPrime;
  }
  std::uint64_t value_;
};

std::uint64_t identity_of(const RecordedReading& record, std::string_view test, std::string_view began) {
  constexpr std::uint64_t kStart = 0xcbf29ce484222325;
  Digest digest(kStart);
  digest.add(record.finished.empty() ? began : record.finished);
  for (const ReadingEnd* end : {&record.from_end, &record.to_end}) {
    for (const std::string_view text : {end->host, end->rail, end->nic, end->nic_guid, end->gpu, end->gpu_uuid}) {
      digest.add(text);
    }
  }
  digest.add(test);
  for (const auto* number : {&record.round, &record.from, &record.to, &record.size}) digest.add(*number);
  digest.add(static_cast<std::uint64_t>(record.status.value_or(ReadingStatus::kOk)) * 2 + (record.both_ways ? 1 : 0));
  for (const auto* figure : {&record.bandwidth, &record.latency}) digest.add(*figure);
  return digest.value();
}

/// Numbers things anew, in the order in which it is asked for them.
class Renumbering {
 public:
  explicit Renumbering(std::size_t things) : numbers_(things, -1) {}

  std::int32_t number_of(std::int32_t thing) {
    std::int32_t& number = numbers_[static_cast<std::size_t>(thing)];
    if (number < 0) number = next_++;
    return number;
  }

  /// Moves things to their new places; those that nobody asked for are dropped.
  template <typename Thing>
  void apply(std::vector<Thing>& things) const {
    std::vector<Thing> moved(static_cast<std::size_t>(next_));
    for (std::size_t i = 0; i < things.size(); ++i) {
      if (numbers_[i] >= 0) moved[static_cast<std::size_t>(numbers_[i])] = std::move(things[i]);
    }
    things = std::move(moved);
  }

 private:
  std::vector<std::int32_t> numbers_;
  std::int32_t next_ = 0;
};

std::int32_t first_round(const RecordedRun& run) {
  return run.part.readings.empty() ? -1 : run.part.readings.front().round;
}

bool is_earlier(const RecordedRun& a, const RecordedRun& b) {
  return std::tuple(std::string_view(a.began), first_round(a), a.goes_on, a.digest) <
         std::tuple(std::string_view(b.began), first_round(b), b.goes_on, b.digest);
}

/// Empties runs of unknown time whose readings are all in another one. Returns the number of these readings.
std::int64_t drop_copies(std::vector<RecordedRun>& runs) {
  std::vector<RecordedRun*> candidates;
  for (RecordedRun& run : runs) {
    const std::size_t count = run.of_unknown_time.size();
    if (count == 0 || count != run.part.readings.size()) continue;
    std::sort(run.of_unknown_time.begin(), run.of_unknown_time.end());
    candidates.push_back(&run);
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const RecordedRun* a, const RecordedRun* b) {
    return a->of_unknown_time.size() > b->of_unknown_time.size();
  });
  std::int64_t dropped = 0;
  std::vector<const RecordedRun*> kept;
  for (RecordedRun* run : candidates) {
    const auto& own = run->of_unknown_time;
    const auto has_all = [&](const RecordedRun* other) {
      const auto& others = other->of_unknown_time;
      return std::includes(others.begin(), others.end(), own.begin(), own.end());
    };
    if (std::none_of(kept.begin(), kept.end(), has_all)) {
      kept.push_back(run);
      continue;
    }
    dropped += static_cast<std::int64_t>(own.size());
    run->part = {};
  }
  return dropped;
}

/// Continues the rounds of earlier runs. The part of a run that another file has may repeat its last round.
class Rounds {
 public:
  void number(RecordedRun& run) {
    if (run.part.readings.empty()) return;
    const std::int32_t first = first_round(run);
    const bool same_run = !run.began.empty() && run.began == began_;
    const bool begins_anew = same_run ? first < last_ : first <= last_;
    const std::int64_t added = begins_anew ? std::int64_t{last_} + 1 - first : 0;
    for (Reading& reading : run.part.readings) {
      constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() - 1;
      reading.round = static_cast<std::int32_t>(std::min(reading.round + added, kMost));
      last_ = std::max(last_, reading.round);
    }
    began_ = run.began;
  }

 private:
  std::int32_t last_ = -1;
  std::string began_;
};

/// Moves the readings of a run behind those that the sweep has.
void append(RecordedRun& run, KeptReasons& reasons, Sweep& sweep) {
  Sweep& part = run.part;
  const std::size_t before = sweep.readings.size();
  for (auto& [place, reason] : part.reasons) {
    if (reasons.keeps(part.readings[place])) sweep.reasons.emplace_back(before + place, std::move(reason));
  }
  if (!part.routes_of.empty()) {
    sweep.routes_of.resize(before);
    sweep.routes_of.insert(sweep.routes_of.end(), part.routes_of.begin(), part.routes_of.end());
  }
  sweep.below_asked += part.below_asked;
  sweep.most_waited = std::max(sweep.most_waited, part.most_waited);
  if (before == 0) {
    sweep.readings = std::move(part.readings);
  } else {
    sweep.readings.insert(sweep.readings.end(), part.readings.begin(), part.readings.end());
  }
  part = {};
}

void renumber_routes(Sweep& sweep) {
  Renumbering routes(sweep.routes.size());
  for (RoutePair& pair : sweep.routes_of) {
    for (std::int32_t* route : {&pair.from, &pair.to}) {
      if (*route != Route::kNone) *route = routes.number_of(*route);
    }
  }
  routes.apply(sweep.routes);
  Renumbering devices(sweep.devices.size());
  for (Route& route : sweep.routes) {
    for (std::int32_t& device : route.devices) {
      if (device != Route::kNone) device = devices.number_of(device);
    }
  }
  devices.apply(sweep.devices);
}

}  // namespace

bool KeptReasons::keeps(const Reading& reading) {
  kept_.resize(std::max(kept_.size(), static_cast<std::size_t>(std::max(reading.from, reading.to)) + 1), 0);
  std::int32_t& of_sender = kept_[static_cast<std::size_t>(reading.from)];
  std::int32_t& of_receiver = kept_[static_cast<std::size_t>(reading.to)];
  if (of_sender >= kMostReasonsOfHost && of_receiver >= kMostReasonsOfHost) return false;
  ++of_sender;
  ++of_receiver;
  return true;
}

bool KnownReadings::add(const RecordedReading& record, std::string_view test, RecordedRun& run) {
  const std::uint64_t identity = identity_of(record, test, run.began);
  if (run.began.empty()) run.began = record.finished;
  if (run.began.empty()) {
    run.of_unknown_time.push_back(identity);
  } else if (!known_.insert(identity).second) {
    run.goes_on = true;
    return false;
  }
  Digest digest(run.digest);
  digest.add(identity);
  run.digest = digest.value();
  return true;
}

std::uint64_t digest_of(std::string_view text, std::uint64_t digest) {
  Digest sum(digest);
  sum.add(text);
  return sum.value();
}

std::int64_t join(std::vector<RecordedRun>& runs, std::size_t given, Sweep& sweep) {
  const std::int64_t dropped = drop_copies(runs);
  std::stable_sort(runs.begin(), runs.end(), is_earlier);
  Renumbering hosts(sweep.hosts.size());
  for (std::size_t host = 0; host < given; ++host) hosts.number_of(static_cast<std::int32_t>(host));
  Renumbering kinds(sweep.tests.size());
  Rounds rounds;
  KeptReasons reasons;
  for (RecordedRun& run : runs) {
    for (const std::int32_t host : run.hosts) hosts.number_of(host);
    for (Reading& reading : run.part.readings) {
      reading.from = hosts.number_of(reading.from);
      reading.to = hosts.number_of(reading.to);
      reading.test = static_cast<std::int16_t>(kinds.number_of(reading.test));
    }
    rounds.number(run);
    append(run, reasons, sweep);
  }
  hosts.apply(sweep.hosts);
  kinds.apply(sweep.tests);
  renumber_routes(sweep);
  return dropped;
}

}  // namespace fabricbench::cluster
