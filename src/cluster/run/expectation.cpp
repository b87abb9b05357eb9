#include "cluster/run/expectation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/run/comparison.h"
#include "cluster/run/launch_recorder.h"
#include "common/core/error.h"
#include "common/core/wording.h"
#include "common/host/files.h"
#include "common/record/columns.h"
#include "common/record/json.h"

namespace fabricbench::expected {
namespace {

constexpr double kBitsPerByte = 8;
constexpr double kMegabit = 1e6;
constexpr int kUsualMtu = 1500;
constexpr double kTcpHeaders = 52;  // IPv4, TCP, timestamps
constexpr double kEthernet = 38;    // preamble, header, checksum, gap
constexpr double kRdmaPacket = 4096;
constexpr double kInfiniBand = 26;  // LRH, BTH, ICRC, VCRC
constexpr double kRoce = 82;        // Ethernet, IPv4, UDP, BTH, ICRC

constexpr Seconds kRdmaEnds = 0.6e-6;
constexpr Seconds kInfiniBandSwitch = 130e-9;
constexpr Seconds kEthernetSwitch = 300e-9;

/// Network devices of virtual machines, whose speed is only a name; other virtual devices have no driver.
constexpr std::array<std::string_view, 5> kVirtualDrivers = {"virtio_net", "vmxnet3", "xen_netfront", "hv_netvsc",
                                                             "vif"};

bool is_rdma_port(const host::NetworkDevice& device) { return device.name.find(':') != std::string::npos; }

const host::NetworkDevice* find_device(const HostFacts& host, const std::string& name) {
  const auto found = std::find_if(host.network_devices.begin(), host.network_devices.end(),
                                  [&](const host::NetworkDevice& device) { return device.name == name; });
  return found == host.network_devices.end() ? nullptr : &*found;
}

const HostFacts* find_host(const Context& context, const std::string& name) {
  const auto found = std::find_if(context.host_facts.begin(), context.host_facts.end(),
                                  [&](const HostFacts& host) { return host.name == name; });
  return found == context.host_facts.end() ? nullptr : &*found;
}

/// RDMA ports that carry data as `one` does: of its kind and speed, with a link.
std::vector<const host::NetworkDevice*> ports_like(const host::NetworkDevice& one, const HostFacts& host) {
  std::vector<const host::NetworkDevice*> alike;
  for (const host::NetworkDevice& device : host.network_devices) {
    if (is_rdma_port(device) && device.kind == one.kind && device.state == one.state &&
        device.speed_mbit_per_s == one.speed_mbit_per_s) {
      alike.push_back(&device);
    }
  }
  return alike;
}

/// Of one host. `used_nics`: the names of the devices that carried data.
class RateOfHost {
 public:
  RateOfHost(const Context& context, const HostFacts& host, double line_rate)
      : context_(context), host_(host), line_rate_(line_rate) {}

  [[nodiscard]] LinkRate of(const baseline::UsedNics& used_nics) {
    for (const std::string& name : used_nics) {
      const host::NetworkDevice* device = find_device(host_, name);
      if (device == nullptr) return {.words = fmt::format("{} has no device '{}'", host_.name, name)};
      if (context_.backend == "nccl" && is_rdma_port(*device)) {
        for (const host::NetworkDevice* port : ports_like(*device, host_)) devices_[port->name] = port;
      } else {
        devices_[name] = device;
      }
    }
    return sum();
  }

 private:
  [[nodiscard]] LinkRate sum() const {
    LinkRate rate;
    std::map<double, std::vector<std::string>> names;  // by rate
    for (const auto& [name, device] : devices_) {
      if (line_rate_ <= 0 && !has_real_speed(*device)) {
        return {.words = fmt::format("the rate of {} on {}{} is unknown; give it with --line-rate", name, host_.name,
                                     device->driver.empty() ? "" : fmt::format(" ({})", device->driver))};
      }
      const double line = line_rate_ > 0
                              ? line_rate_
                              : static_cast<double>(device->speed_mbit_per_s.value_or(0)) * kMegabit / kBitsPerByte;
      rate.line += line;
      rate.payload += line * payload_share(*device);
      rate.latency = latency_of(*device);
      names[line].push_back(name);
    }
    std::vector<std::string> words;
    words.reserve(names.size());
    for (const auto& [line, devices] : names) {
      words.push_back(
          fmt::format("{} x {:.4g} Gbit/s ({})", devices.size(), line * kBitsPerByte / 1e9, fmt::join(devices, ", ")));
    }
    rate.words = fmt::format("{}, {:.1f} % of it payload", fmt::join(words, ", "), 100 * rate.payload / rate.line);
    return rate;
  }

  const Context& context_;
  const HostFacts& host_;
  double line_rate_;
  std::map<std::string, const host::NetworkDevice*> devices_;
};

using Names = std::vector<std::string_view>;  // of switches, from the top down

Names names_in(std::string_view switches) {
  Names names;
  while (!switches.empty()) {
    const std::size_t dot = std::min(switches.find('.'), switches.size());
    names.push_back(switches.substr(0, dot));
    switches.remove_prefix(std::min(dot + 1, switches.size()));
  }
  return names;
}

/// Whether nothing but the operation itself was under way.
bool was_alone(const Context& context) {
  return context.row_kind == RowKind::kLatency ||
         (context.row_kind == RowKind::kCollective && context.options.timing == Timing::kIsolated);
}

/// Clocks and counters are not exact.
constexpr double kAboveLimit = 1.02;
/// Bytes that NICs moved, relative to what the messages need at least, from which on NICs carried them. Below, they
/// went another way: through NVLinks between hosts, or through memory.
constexpr double kLeastMoved = 0.5;

const GroupFacts* group_of(const Context& context, const MeasuredRow& row) {
  const auto group = static_cast<std::size_t>(row.group);
  return group < context.groups.size() ? &context.groups[group] : nullptr;
}

bool is_between_hosts(const GroupFacts& group) { return group.host_names.size() > 1; }

/// Whether the NICs of the busiest host moved what the messages between hosts need.
bool nics_carried(const Context& context, const std::vector<MeasuredRow>& rows, const baseline::DeviceBytes& bytes) {
  double needed = 0;
  for (const MeasuredRow& row : rows) {
    const GroupFacts* group = group_of(context, row);
    if (group == nullptr || !is_between_hosts(*group) || group->most_busbw <= 0) continue;
    needed += row.busbw * row.time * row.operations / group->most_busbw;
  }
  double most = 0;
  for (const auto& [host, devices] : bytes) {
    double moved = 0;
    for (const auto& [name, count] : devices) moved += count;
    most = std::max(most, moved);
  }
  return most >= kLeastMoved * needed;
}

/// The rate of the links of rows: NICs between hosts, NVLinks on one host.
struct Links {
  LinkRate nics;
  LinkRate nvlinks;

  [[nodiscard]] const LinkRate& of(const GroupFacts& group) const { return is_between_hosts(group) ? nics : nvlinks; }
};

Links links_of(const Context& context, const std::vector<MeasuredRow>& rows, const baseline::DeviceBytes& bytes,
               double line_rate) {
  Links links{nic_rate(context, bytes, line_rate), nvlink_rate(context)};
  if (links.nics.line > 0 && !nics_carried(context, rows, bytes)) {
    links.nics = {.words = "most of the data between hosts did not go over NICs whose bytes are counted"};
  }
  return links;
}

RowExpectation beside_links(const MeasuredRow& row, const GroupFacts& group, const LinkRate& rate,
                            Seconds path_latency) {
  RowExpectation expected{
      .key = row.key, .busbw = row.busbw, .limit = group.most_busbw * rate.line, .path_latency = path_latency};
  const double bytes = row.busbw * row.time;
  const double usual = group.usual_busbw * rate.payload;
  if (usual > 0 && bytes > 0) expected.expected = bytes / (bytes / usual + path_latency);
  if (expected.expected > 0 || expected.limit > 0) expected.verdict = Reach::kNotRequired;
  if (expected.limit > 0 && row.busbw > kAboveLimit * expected.limit) expected.verdict = Reach::kAboveLimit;
  return expected;
}

/// Returns why the rate of some links is unknown; empty: it is known.
std::string describe_links(const std::map<bool, const LinkRate*>& used, Expectation& expectation) {
  std::string unknown;
  for (const auto& [between_hosts, rate] : used) {
    expectation.links += (expectation.links.empty() ? "" : "; ") + rate->words;
    if (rate->payload <= 0) unknown = rate->words;
    const bool is_slowest = expectation.payload <= 0 || rate->payload < expectation.payload;
    if (rate->payload > 0 && is_slowest) expectation.payload = rate->payload;
  }
  return unknown;
}

/// Judges the row with the highest bandwidth of each series.
void judge_best_rows(std::vector<RowExpectation>& rows, double required) {
  std::map<baseline::RowKey, RowExpectation*> best;
  for (RowExpectation& row : rows) {
    RowExpectation*& known = best.try_emplace(row.key.without_size(), &row).first->second;
    if (row.busbw > known->busbw) known = &row;
  }
  for (const auto& [series, row] : best) {
    if (row->verdict == Reach::kAboveLimit) continue;
    row->verdict = row->expected <= 0 ? Reach::kUnknown : row->share() >= required ? Reach::kReached : Reach::kBelow;
  }
}

const RowExpectation* first_with(const std::vector<RowExpectation>& rows, Reach verdict) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const RowExpectation& row) { return row.verdict == verdict; });
  return found == rows.end() ? nullptr : &*found;
}

std::string named(const RowExpectation& row) { return size_and_words_of(row.key); }

/// `unknown`: why the rate of the links of some rows is unknown; empty: it is known.
void conclude(Expectation& expectation, const std::string& unknown) {
  const auto end = [&](ExitStatus status, std::string headline) {
    expectation.exit_status = static_cast<int>(status);
    expectation.headline = std::move(headline);
  };
  const auto& rows = expectation.rows;
  if (rows.empty()) return end(ExitStatus::kNotJudged, "no row has a figure that --expect could judge");
  if (const RowExpectation* row = first_with(rows, Reach::kBelow)) {
    return end(ExitStatus::kTooSlow,
               fmt::format("{} has {:.4g} GB/s, {:.0f} % of the {:.4g} GB/s that its links allow; --expect requires "
                           "{:.4g} %",
                           named(*row), row->busbw / 1e9, 100 * row->share(), row->expected / 1e9,
                           100 * expectation.required));
  }
  if (const RowExpectation* row = first_with(rows, Reach::kAboveLimit)) {
    return end(ExitStatus::kNotJudged,
               fmt::format("{} is faster than its links: {:.4g} GB/s, and {:.4g} GB/s are possible", named(*row),
                           row->busbw / 1e9, row->limit / 1e9));
  }
  if (first_with(rows, Reach::kUnknown) != nullptr) {
    return end(ExitStatus::kNotJudged,
               fmt::format(
                   "what the links allow is unknown: {}",
                   unknown.empty() ? "how much of the data crosses them depends on the parts; use --min-bw" : unknown));
  }
  double least = 1e300;
  for (const RowExpectation& row : rows) {
    if (row.verdict == Reach::kReached) least = std::min(least, row.share());
  }
  end(ExitStatus::kOk, fmt::format("the largest figures reach {:.0f} % of what the links allow, or more; {:.4g} % are "
                                   "required",
                                   100 * least, 100 * expectation.required));
}

record::TextTable row_table() {
  using record::field;
  return {{{"size", "(B)", 12, field("/size_bytes")},
           {"row", "", 24, field("/row")},
           {"busbw", "(GB/s)", 9, field("/busbw_gb_per_s")},
           {"path", "(us)", 7, field("/path_latency_us")},
           {"expected", "(GB/s)", 9, field("/expected_gb_per_s")},
           {"limit", "(GB/s)", 9, field("/limit_gb_per_s")},
           {"reached", "(%)", 9, field("/share_percent")},
           {"verdict", "", 12, field("/verdict")}},
          readable};
}

constexpr double kBytesPerGigabit = 1e9 / 8;

void fail(Ending& ending, int status, const std::string& reason) {
  if (ending.exit_status != 0 || status == 0) return;
  ending.exit_status = status;
  ending.reason = reason;
}

void append(std::vector<std::string>& lines, std::vector<std::string> more) {
  for (std::string& line : more) lines.push_back(std::move(line));
}

}  // namespace

double payload_share(const host::NetworkDevice& device) {
  if (is_rdma_port(device)) return kRdmaPacket / (kRdmaPacket + (device.kind == "infiniband" ? kInfiniBand : kRoce));
  const double mtu = device.mtu.value_or(kUsualMtu);
  return std::max(0.0, mtu - kTcpHeaders) / (mtu + kEthernet);
}

Latency latency_of(const host::NetworkDevice& device) {
  if (!is_rdma_port(device)) return {};
  return {kRdmaEnds, device.kind == "infiniband" ? kInfiniBandSwitch : kEthernetSwitch};
}

bool has_real_speed(const host::NetworkDevice& device) {
  const std::string_view driver = std::string_view(device.driver).substr(0, device.driver.find(' '));
  const bool is_virtual = std::find(kVirtualDrivers.begin(), kVirtualDrivers.end(), driver) != kVirtualDrivers.end();
  return device.speed_mbit_per_s.value_or(0) > 0 && !driver.empty() && !is_virtual;
}

LinkRate nic_rate(const Context& context, const baseline::DeviceBytes& bytes, double line_rate) {
  LinkRate slowest{.words = "no bytes were counted at any NIC"};
  for (const auto& [name, devices] : bytes) {
    const HostFacts* host = find_host(context, name);
    if (host == nullptr) return {.words = fmt::format("the NICs of {} are unknown", name)};
    LinkRate rate = RateOfHost(context, *host, line_rate).of(baseline::used_nics_on(devices));
    if (rate.line <= 0) return rate;
    if (slowest.line <= 0 || rate.payload < slowest.payload) slowest = std::move(rate);
  }
  return slowest;
}

LinkRate nvlink_rate(const Context& context) {
  LinkRate slowest{.words = "all ranks are on one host, and the rate of what connects them there is unknown"};
  for (const RankFacts& rank : context.ranks) {
    const double rate = rank.gpu ? rank.gpu->nvlink_rate : 0;
    if (rate <= 0) return {.words = slowest.words};
    if (slowest.line > 0 && rate >= slowest.line) continue;
    slowest.line = slowest.payload = rate;
    slowest.words = fmt::format("NVLinks of {:.4g} GB/s a GPU ({})", rate / 1e9, rank.gpu->model);
  }
  return slowest;
}

Paths::Paths(const Context& context) : context_(context) {
  for (const HostFacts& host : context.host_facts) switches_of_[host.name] = host.switches;
}

int Paths::most_switches(const GroupFacts& group) const {
  Names common;
  std::size_t levels = 0;
  for (std::size_t i = 0; i < group.host_names.size(); ++i) {
    const auto known = switches_of_.find(group.host_names[i]);
    if (known == switches_of_.end() || known->second.empty()) return 0;
    const Names names = names_in(known->second);
    levels = std::max(levels, names.size());
    if (i == 0) common = names;
    common.erase(std::mismatch(common.begin(), common.end(), names.begin(), names.end()).first, common.end());
  }
  // Up from one host's leaf to the switch above all, and down again. Hosts without a switch above all have two on top.
  const std::size_t below = levels - common.size();
  return static_cast<int>(2 * below + (common.empty() ? 0 : 1));
}

Seconds Paths::path_latency(const GroupFacts& group, const Latency& latency) const {
  const auto hosts = static_cast<std::uint64_t>(group.host_names.size());
  if (latency.ends <= 0 || hosts < 2 || !was_alone(context_)) return 0;
  const auto messages = static_cast<int>(std::bit_width(hosts - 1));
  const int switches = std::max(1, most_switches(group)) + messages - 1;
  return messages * latency.ends + switches * latency.of_switch;
}

Expectation expect(const Context& context, const std::vector<MeasuredRow>& rows, const baseline::DeviceBytes& bytes,
                   const ExpectationSettings& settings) {
  const Links links = links_of(context, rows, bytes, settings.line_rate);
  Expectation expectation{.required = settings.required};
  const Paths paths(context);
  std::map<bool, const LinkRate*> used;  // by whether they are between hosts
  for (const MeasuredRow& row : rows) {
    const GroupFacts* group = group_of(context, row);
    if (group == nullptr || row.key.size == 0) continue;
    const LinkRate& rate = links.of(*group);
    used.emplace(is_between_hosts(*group), &rate);
    expectation.rows.push_back(beside_links(row, *group, rate, paths.path_latency(*group, rate.latency)));
  }
  const std::string unknown = describe_links(used, expectation);
  if (settings.required <= 0) return expectation;
  if (const double waited = most_waited(rows); waited > 0) {
    expectation.exit_status = static_cast<int>(ExitStatus::kNotJudged);
    expectation.headline = waited_text(waited);
    return expectation;
  }
  judge_best_rows(expectation.rows, settings.required);
  conclude(expectation, unknown);
  return expectation;
}

std::vector<std::string> lines_of(const Expectation& expectation) {
  if (expectation.required <= 0) return {};
  std::vector<std::string> lines;
  if (expectation.payload > 0) {  // of some links at least
    lines.push_back(fmt::format("Links: {}", expectation.links));
    const record::TextTable table = row_table();
    lines.push_back(table.titles());
    lines.push_back(table.units());
    for (const RowExpectation& row : expectation.rows) {
      record::Json json = record::to_json(row);
      json["row"] = words_of(row.key);
      lines.push_back(table.line(json));
    }
  }
  for (std::string& line : lines) line.erase(line.find_last_not_of(" \n") + 1);
  lines.push_back(fmt::format("Expected: {}", expectation.headline));
  return lines;
}

std::vector<std::string> warnings_of(const Expectation& expectation) {
  const RowExpectation* row = first_with(expectation.rows, Reach::kAboveLimit);
  if (row == nullptr) return {};
  const auto rows = std::count_if(expectation.rows.begin(), expectation.rows.end(),
                                  [](const RowExpectation& each) { return each.verdict == Reach::kAboveLimit; });
  return {
      fmt::format("Faster than the links: {} row{}, such as {} with {:.4g} GB/s where {:.4g} GB/s are possible over "
                  "{}; a rate or a counter is wrong, or the data went another way",
                  rows, rows == 1 ? "" : "s", named(*row), row->busbw / 1e9, row->limit / 1e9, expectation.links)};
}

ExpectationSink::ExpectationSink(const ExpectationOptions& options)
    : settings_{options.expected_percent / 100, options.line_rate_gbit_per_s * kBytesPerGigabit},
      strict_(options.strict) {
  if (!options.preset.empty())
    preset_ = read_preset(find_preset(options.preset, host::installed_folders("results/presets")));
}

void ExpectationSink::record(const AnyRecord& record) {
  const Row* row = record.as<Row>();
  if (row == nullptr) return;
  baseline::for_each_measurement(*row, context_, [&](baseline::RowKey key, const Measurement& measured) {
    keep({.key = std::move(key),
          .group = row->group,
          .busbw = measured.busbw,
          .time = measured.summary.median,
          .operations = static_cast<double>(measured.iterations.value_or(0)),
          .processor_wait = measured.processor_wait});
    baseline::count_bytes(measured.nics, bytes_);
  });
}

/// Of the runs that -N repeats the best figure counts, so that a run without end takes no more memory than one.
void ExpectationSink::keep(MeasuredRow row) {
  const auto [known, is_new] = place_of_.try_emplace({row.key, row.group}, rows_.size());
  if (is_new) return rows_.push_back(std::move(row));
  MeasuredRow& best = rows_[known->second];
  const double operations = best.operations + row.operations;
  if (row.busbw > best.busbw) best = std::move(row);
  best.operations = operations;
}

void ExpectationSink::conclude(Ending& ending, const Outputs& outputs) {
  hold_against_links(ending, outputs);
  if (preset_) hold_against_preset(ending, outputs);
}

void ExpectationSink::hold_against_links(Ending& ending, const Outputs& outputs) const {
  const Expectation expectation = expect(context_, rows_, bytes_, settings_);
  append(ending.notes, warnings_of(expectation));
  if (settings_.required <= 0 && expectation.payload <= 0) return;
  for (const RowExpectation& row : expectation.rows) outputs.record(row);
  outputs.record(expectation);
  append(ending.baseline, lines_of(expectation));
  fail(ending, expectation.exit_status, expectation.headline);
}

void ExpectationSink::hold_against_preset(Ending& ending, const Outputs& outputs) const {
  const std::vector<PresetComparison> figures = compare(*preset_, context_, rows_);
  for (const PresetComparison& figure : figures) outputs.record(figure);
  PresetOutcome outcome = outcome_of(*preset_, context_, figures);
  append(ending.baseline, std::move(outcome.lines));
  if (!strict_) return;
  if (const double waited = most_waited(rows_); waited > 0) {
    return fail(ending, static_cast<int>(ExitStatus::kNotJudged), waited_text(waited));
  }
  fail(ending, outcome.exit_status, outcome.headline);
}

}  // namespace fabricbench::expected
