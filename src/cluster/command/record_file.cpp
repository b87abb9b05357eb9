#include "cluster/command/record_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "cluster/fabric/locality.h"
#include "cluster/hosts/host_list.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"
#include "common/core/units.h"
#include "common/core/version.h"

namespace fabricbench::cluster {
namespace {

double rate_of(const ReadingEnd& end) {
  if (!end.port_rate) return 0;
  if (!std::isfinite(*end.port_rate) || *end.port_rate <= 0) {
    throw std::invalid_argument(fmt::format("a port's rate of {} GB/s is invalid", *end.port_rate / 1e9));
  }
  return *end.port_rate;
}

constexpr std::size_t kMostNames = std::numeric_limits<std::int16_t>::max();
constexpr std::int64_t kMostRounds = std::int64_t{1} << 30;
constexpr double kGb = 1e9;  // bytes
constexpr const char* kWhatIsRead =
    "give files that 'pairwise_bw --json FILE' or 'scripts/sweep_pairs.sh' have written";

/// The parts of a context line that readings need.
struct RankOfReadings {
  std::string host;
};
struct ContextOfReadings {
  std::optional<std::int64_t> schema_version;
  std::string program;
  std::string started;
  std::vector<RankOfReadings> ranks;
};

template <typename Visitor, record::Of<RankOfReadings> Record>
void describe(Visitor& visitor, Record& rank) {
  visitor("host", rank.host, "");
}

template <typename Visitor, record::Of<ContextOfReadings> Record>
void describe(Visitor& visitor, Record& context) {
  visitor("schema_version", context.schema_version, "");
  visitor("program", context.program, "");
  visitor("started_utc", record::left_out_if_none(context.started), "");
  visitor("rank_map", context.ranks, "");
}

[[noreturn]] void refuse(const std::string& message) { throw Error(ExitStatus::kNotJudged, message); }

/// Each endpoint's number on its host, as text; empty if every host has one endpoint.
std::vector<std::string> places_within_hosts(const std::vector<std::string>& hosts) {
  std::unordered_map<std::string, int> endpoints;
  std::vector<std::string> places;
  places.reserve(hosts.size());
  for (const std::string& host : hosts) places.push_back(fmt::to_string(endpoints[host]++));
  if (endpoints.size() == hosts.size()) places.clear();
  return places;
}

/// Checks a count from the file.
std::int32_t count_in(const std::optional<std::int64_t>& number, std::string_view key) {
  if (!number) return 0;
  if (*number < 0 || *number >= kMostRounds) {
    throw std::invalid_argument(fmt::format("{} {} is not from 0 to {}", key, *number, kMostRounds - 1));
  }
  return static_cast<std::int32_t>(*number);
}

}  // namespace

std::int32_t DeviceIndex::route_of(std::string_view host, const ReadingEnd& end) {
  if (!end.has_devices()) return Route::kNone;
  constexpr char kBetween = '\0';
  key_.assign(host);
  for (const std::string_view text : {end.nic, end.nic_guid, end.gpu, end.gpu_uuid, end.switch_port}) {
    key_ += kBetween;
    key_ += text;
  }
  key_ += kBetween;
  if (end.port_rate) key_ += fmt::to_string(*end.port_rate);
  const auto known = known_.find(key_);
  if (known != known_.end()) return known->second;
  routes_.push_back(make_route(host, end));
  const auto number = static_cast<std::int32_t>(routes_.size() - 1);
  known_.emplace(key_, number);
  return number;
}

void DeviceIndex::give(Sweep& sweep) {
  sweep.devices = std::exchange(devices_, {});
  sweep.routes = std::exchange(routes_, {});
  numbers_.clear();
  known_.clear();
}

std::int32_t DeviceIndex::device_of(DeviceKind kind, std::string_view id, std::string_view name,
                                    std::string_view host) {
  if (id.empty() && name.empty()) return Route::kNone;
  std::string own = id.empty() ? fmt::format("{}/{}", host, name) : std::string(id);
  const auto [at, added] = numbers_.try_emplace({kind, own}, static_cast<std::int32_t>(devices_.size()));
  if (added) devices_.push_back({kind, std::move(own), std::string(name)});
  return at->second;
}

Route DeviceIndex::make_route(std::string_view host, const ReadingEnd& end) {
  Route route;
  route.port_rate = rate_of(end);
  const auto set = [&](DeviceKind kind, std::string_view id, std::string_view name) {
    route.devices[static_cast<std::size_t>(kind)] = device_of(kind, id, name, host);
  };
  set(DeviceKind::kNic, end.nic_guid, end.nic);
  set(DeviceKind::kGpu, end.gpu_uuid, end.gpu);
  set(DeviceKind::kSwitchPort, end.switch_port, end.switch_port);
  return route;
}

RecordReader::RecordReader(const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) static_cast<void>(number_of_host(host));
  given_hosts_ = hosts_.names().size();
}

void RecordReader::read(const std::string& path) {
  LineSource lines(path, record::LineReader::kSpare);
  begin_file(readable_name(path));
  Line line;
  while (lines.next(line)) {
    if (is_blank(line.text)) continue;
    try {
      take_line(line.text, line.capacity);
      file_.any_line = true;
    } catch (const std::invalid_argument& problem) {
      if (!take_end(line)) refuse_unless_cut_off(line, problem.what());
    }
  }
  if (file_.of_a_sweep || !file_.any_line) return;
  refuse(fmt::format("{}: it holds {}, but no reading of a sweep over pairs; {}", file_.name,
                     file_.program.empty() ? "JSON" : "records of " + file_.program, kWhatIsRead));
}

void RecordReader::begin_file(const std::string& name) {
  file_ = {};
  file_.name = name;
  runs_.emplace_back();
}

void RecordReader::begin_run(const std::string& began, const std::vector<std::string>& hosts) {
  RecordedRun& run = runs_.emplace_back();
  run.began = began;
  for (const std::string& host : hosts) {
    run.hosts.push_back(number_of_host(host));
    run.digest = digest_of(host, run.digest);
  }
}

/// If a sweep was killed while it wrote a record and then continued, the next record is on the same line.
bool RecordReader::take_end(const Line& line) {
  const std::size_t begin = line.text.rfind(R"({"kind":)");
  if (begin == std::string_view::npos || begin == 0 || !file_.any_line) return false;
  try {
    take_line(line.text.substr(begin), line.capacity - begin);
  } catch (const std::invalid_argument&) {
    return false;
  }
  notices_.push_back(fmt::format("{}:{}: a record is cut off by the next one and left out", file_.name, line.number));
  return true;
}

void RecordReader::refuse_unless_cut_off(const Line& line, std::string_view problem) {
  const std::string place = fmt::format("{}:{}", file_.name, line.number);
  if (!file_.any_line && !line.complete && line.text.starts_with(R"({"kind":)")) {
    refuse(fmt::format("{}: its only line is cut off, so the run ended before it had measured anything; {}", place,
                       kWhatIsRead));
  }
  if (!file_.any_line) refuse(fmt::format("{}: this is not a file of records ({}); {}", place, problem, kWhatIsRead));
  if (line.complete) {
    refuse(
        fmt::format("{0}: this record is broken ({1}); look at it with 'sed -n {2}p {3}'; if a crash or two writers at "
                    "once have spoilt it, remove it with 'sed -i {2}d {3}'",
                    place, problem, line.number, file_.name));
  }
  notices_.push_back(fmt::format("{}: the last line is cut off and left out", place));
}

/// Keys keep their meaning, so newer files can be read.
void RecordReader::check_version(std::int64_t version) {
  if (version < 1) throw std::invalid_argument(fmt::format("schema_version {} is invalid", version));
  if (version <= kSchemaVersion) return;
  notices_.push_back(
      fmt::format("{}: its schema_version is {}, newer than version {} of this program; unknown parts are ignored",
                  file_.name, version, kSchemaVersion));
}

void RecordReader::take_line(std::string_view line, std::size_t capacity) {
  const std::string_view kind = line_reader_.open(line, capacity);
  if (kind == "reading") {
    take(line_reader_.read<RecordedReading>());
  } else if (kind == "context") {
    take_context();
  } else if (kind == "sweep") {
    take(line_reader_.read<SweepStart>());
  } else if (kind == "locality") {
    take_locality(line_reader_.read<HostLocality>());
  } else {
    line_reader_.check();
  }
}

void RecordReader::take(const SweepStart& start) {
  file_.of_a_sweep = true;
  for (const std::string* text : {&start.how.launcher, &start.how.agent, &start.how.mpi_options, &start.how.programs}) {
    if (*text != printable(*text)) throw std::invalid_argument("a setting of the sweep has control characters");
  }
  sweep_.not_understood += start.not_understood;
  if (sweep_.how == HowStarted()) sweep_.how = start.how;
  begin_run(start.began, start.hosts);
}

void RecordReader::take_locality(const HostLocality& locality) {
  file_.of_a_sweep = true;
  if (locality.host.empty() || locality.leaf.empty()) {
    throw std::invalid_argument("a locality line needs a host and a leaf");
  }
  runs_.back().leaves.emplace_back(locality.host, locality.leaf);
}

void RecordReader::take_context() {
  const auto context = line_reader_.read<ContextOfReadings>();
  if (context.schema_version) check_version(*context.schema_version);
  std::vector<std::string> hosts;
  for (const RankOfReadings& rank : context.ranks) hosts.push_back(rank.host);
  file_.program = context.program;
  file_.rail_of = places_within_hosts(hosts);
  begin_run(context.started, hosts);
}

void RecordReader::take(const RecordedReading& record) {
  file_.of_a_sweep = true;
  if (record.from_end.host.empty() || record.to_end.host.empty()) {
    throw std::invalid_argument("a reading needs from_host and to_host");
  }
  if (!record.status) throw std::invalid_argument("a reading needs a status");
  if (record.from_end.host == record.to_end.host) {
    ++within_a_host_;
    return;
  }
  const bool has_figure = *record.status == ReadingStatus::kOk || *record.status == ReadingStatus::kSlow;
  if (has_figure && !record.bandwidth) {
    ++without_figure_;
    return;
  }
  if (const double bandwidth = record.bandwidth.value_or(0); bandwidth < 0 || bandwidth > kMostGbPerSecond * kGb) {
    const double given = bandwidth / kGb;
    throw std::invalid_argument(fmt::format("bandwidth_gb_per_s {} is not a link's bandwidth",
                                            std::isinf(given) ? "above 1e+299" : fmt::format("{:g}", given)));
  }
  if (!known_.add(record, test_of(record), runs_.back())) {
    ++copies_;
    return;
  }
  const Reading reading = reading_of(record);
  const bool is_nothing = has_figure && reading.outcome == Outcome::kFailed;
  if (reading.outcome != Outcome::kMeasured) keep_reason(reading, is_nothing ? "nothing got through" : record.reason);
  Sweep& part = runs_.back().part;
  if (*record.status == ReadingStatus::kSlow) ++part.below_asked;
  part.most_waited = std::max(part.most_waited, record.processor_wait);
  keep_routes(record);
  part.readings.push_back(reading);
}

std::int32_t RecordReader::number_of_host(std::string_view name) {
  const std::size_t known = hosts_.names().size();
  const std::int32_t number = hosts_.number_of(name);
  if (hosts_.names().size() == known) return number;
  const std::string fault = fault_of_host_name(name);
  if (!fault.empty()) throw std::invalid_argument(fmt::format("'{}' is no host: it {}", printable(name), fault));
  return number;
}

Reading RecordReader::reading_of(const RecordedReading& record) {
  Reading reading;
  reading.from = number_of_host(record.from_end.host);
  reading.to = number_of_host(record.to_end.host);
  reading.from_rail = rail_of(record.from_end.rail, record.from);
  reading.to_rail = rail_of(record.to_end.rail, record.to);
  reading.test = kind_of(record);
  reading.both_ways = record.both_ways;
  reading.round = count_in(record.round, "round");
  reading.concurrent = count_in(record.concurrent, "concurrent");
  switch (*record.status) {
    case ReadingStatus::kOk:
    case ReadingStatus::kSlow:
      reading.rate = static_cast<float>(*record.bandwidth);
      if (reading.rate <= 0) reading.outcome = Outcome::kFailed;
      if (record.processor_wait > 0) reading.rate = 0;
      break;
    case ReadingStatus::kWrong: reading.outcome = Outcome::kWrong; break;
    case ReadingStatus::kTimeout:
    case ReadingStatus::kFailed: reading.outcome = Outcome::kFailed; break;
    case ReadingStatus::kNotTried: reading.outcome = Outcome::kNotTried; break;
  }
  reading.small_pass = reading.outcome == Outcome::kFailed && record.latency.has_value();
  return reading;
}

std::int16_t RecordReader::rail_of(std::string_view name, const std::optional<std::int64_t>& endpoint) {
  std::string_view rail = name;
  if (name.empty() && endpoint && !file_.rail_of.empty()) {
    if (*endpoint < 0 || std::cmp_greater_equal(*endpoint, file_.rail_of.size())) {
      throw std::invalid_argument(
          fmt::format("there is no endpoint {} in the context line, which has {}", *endpoint, file_.rail_of.size()));
    }
    rail = file_.rail_of[static_cast<std::size_t>(*endpoint)];
  }
  const std::int32_t number = rails_.number_of(rail);
  if (rails_.names().size() > kMostNames) throw std::invalid_argument(fmt::format("more than {} rails", kMostNames));
  return static_cast<std::int16_t>(number);
}

std::string_view RecordReader::test_of(const RecordedReading& record) const {
  return record.test.empty() ? std::string_view(file_.program) : record.test;
}

std::int16_t RecordReader::kind_of(const RecordedReading& record) {
  const std::string_view test = test_of(record);
  const std::int64_t size = record.size.value_or(-1);
  const std::int32_t kind = kinds_.number_of(fmt::format("{} {}", size, test));
  if (std::cmp_less(kind, sweep_.tests.size())) return static_cast<std::int16_t>(kind);
  if (std::cmp_equal(kind, kMostNames)) throw std::invalid_argument(fmt::format("more than {} kinds", kMostNames));
  std::string name = test.empty() ? "unnamed test" : std::string(test);
  if (size >= 0) name += ' ' + readable_bytes(static_cast<Bytes>(size));
  sweep_.tests.push_back(std::move(name));
  return static_cast<std::int16_t>(kind);
}

/// For the next reading. Keeps nothing if no record has devices.
void RecordReader::keep_routes(const RecordedReading& record) {
  const RoutePair routes{devices_.route_of(record.from_end.host, record.from_end),
                         devices_.route_of(record.to_end.host, record.to_end)};
  if (routes.from == Route::kNone && routes.to == Route::kNone) return;
  Sweep& part = runs_.back().part;
  part.routes_of.resize(part.readings.size());
  part.routes_of.push_back(routes);
}

void RecordReader::keep_reason(const Reading& reading, std::string_view reason) {
  RecordedRun& run = runs_.back();
  if (reason.empty() || !run.reasons.keeps(reading)) return;
  run.part.reasons.emplace_back(run.part.readings.size(), reason);
}

void RecordReader::read_locality(const std::string& path) {
  const std::string name = readable_name(path);
  LineSource lines(path, 0);
  Line line;
  while (lines.next(line)) {
    const std::string_view text = line.text.substr(0, line.text.find('#'));
    if (is_blank(text)) continue;
    constexpr std::string_view kBlanks = " \t\r";
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (fabric::is_of_slurm(text.substr(begin))) {
      for (const auto& [host, leaf] : fabric::read_slurm_topology(text_of_file(path, ""), name)) leaves_[host] = leaf;
      return;
    }
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    const std::size_t leaf = text.find_first_not_of(kBlanks, end);
    const std::size_t last = text.find_last_not_of(kBlanks);
    if (leaf == std::string_view::npos || text.find_first_of(kBlanks, leaf) <= last) {
      throw UsageError(
          fmt::format("{}:{}: '{}' is not a locality; write a host and its leaf, such as node[01-16] leaf1", name,
                      line.number, text.substr(begin, last + 1 - begin)));
    }
    HostList hosts;
    hosts.add_list(text.substr(begin, end - begin), fmt::format("{}:{}", name, line.number));
    for (const Host& host : hosts.hosts()) leaves_.insert_or_assign(host.name, text.substr(leaf, last + 1 - leaf));
  }
}

/// Rails come in the arbitrary order of their first reading; sorted, each has the same number on every host.
void RecordReader::sort_rails() {
  std::vector<std::string> names = rails_.take();
  std::vector<std::int16_t> order(names.size());
  std::iota(order.begin(), order.end(), std::int16_t{0});
  const auto name = [&](std::int16_t rail) -> const std::string& { return names[static_cast<std::size_t>(rail)]; };
  std::sort(order.begin(), order.end(), [&](std::int16_t a, std::int16_t b) { return comes_before(name(a), name(b)); });
  std::vector<std::int16_t> place(names.size());
  sweep_.rails.clear();
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[static_cast<std::size_t>(order[i])] = static_cast<std::int16_t>(i);
    sweep_.rails.push_back(std::move(names[static_cast<std::size_t>(order[i])]));
  }
  if (sweep_.rails.empty()) sweep_.rails.emplace_back();
  for (Reading& reading : sweep_.readings) {
    reading.from_rail = place[static_cast<std::size_t>(reading.from_rail)];
    reading.to_rail = place[static_cast<std::size_t>(reading.to_rail)];
  }
}

void RecordReader::set_leaves() {
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    for (auto known = run->leaves.rbegin(); known != run->leaves.rend(); ++known) {
      leaves_.try_emplace(known->first, known->second);
    }
  }
  if (leaves_.empty()) return;
  NameIndex leaves;
  std::vector<std::string> without;
  for (const std::string& host : sweep_.hosts) {
    const auto known = leaves_.find(host);
    sweep_.leaf_of.push_back(known == leaves_.end() ? Sweep::kNoLeaf : leaves.number_of(known->second));
    if (known == leaves_.end()) without.push_back(host);
  }
  sweep_.leaves = leaves.take();
  if (!without.empty()) notices_.push_back(fmt::format("hosts without a known leaf: {}", fold_hosts(without)));
}

void RecordReader::tell_of_readings_left_out(std::int64_t copies) {
  const auto tell = [&](std::int64_t readings, std::string_view why) {
    if (readings > 0) notices_.push_back(fmt::format("readings left out because {}: {}", why, readings));
  };
  tell(within_a_host_, "both endpoints are on one host, which does not measure the network");
  tell(without_figure_, "they succeeded but have no bandwidth");
  tell(copies, "they are there twice: a file was given again, or with a copy of it");
}

Records RecordReader::finish() {
  sweep_.hosts = hosts_.take();
  devices_.give(sweep_);
  tell_of_readings_left_out(copies_ + join(runs_, given_hosts_, sweep_));
  sort_rails();
  set_leaves();
  return {std::move(sweep_), std::move(notices_)};
}

}  // namespace fabricbench::cluster
