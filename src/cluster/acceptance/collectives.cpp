
#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/acceptance/stages.h"
#include "cluster/launch/job_output.h"
#include "cluster/run/identity.h"
#include "common/core/error.h"
#include "common/core/wording.h"

namespace fabricbench::acceptance {
namespace {

constexpr double kLeastBytes = 16 << 20;  // that a host sent, before anything is said of its devices

constexpr std::array<std::string_view, 6> kKept = {
    "context", "row", "end", "row_comparison", "history_change", "baseline_comparison"};

std::string joined(const std::set<std::string>& names, std::size_t longest) {
  return fmt::format("{}", fmt::join(names, ", ")).substr(0, longest);
}

/// Of a run that says that it ended well.
Judged judge_figures(const std::string& program, const std::vector<Row>& rows) {
  const auto failed = [](std::string reason) { return Judged{Outcome::kFailed, std::move(reason)}; };
  bool any = false;
  for (const Row& row : rows) {
    if (!row.skipped.empty()) continue;
    std::uint64_t wrong = 0;
    bool has_time = row.out_of_place || row.in_place;
    for (const std::optional<Measurement>* const place : {&row.out_of_place, &row.in_place}) {
      if (!*place) continue;
      wrong = std::max(wrong, (*place)->wrong.value_or(0));
      has_time = has_time && (*place)->summary.median > 0;
    }
    if (wrong > 0) return failed(fmt::format("{} delivered {} wrong elements at {} bytes", program, wrong, row.size));
    if (!has_time) return failed(fmt::format("{} has no time at {} bytes", program, row.size));
    any = true;
  }
  return any ? Judged{} : failed(fmt::format("{} measured nothing: it has no row", program));
}

Judged judge_end(const EndedJob& job, const JobRecords& records) {
  if (job.status == static_cast<int>(ExitStatus::kOk)) {
    if (records.end) return judge_figures(job.program, records.rows);
    return {Outcome::kFailed, fmt::format("{} ended with status 0 and without a line of kind `end`", job.program)};
  }
  const std::array<std::string_view, 2> texts = {job.errors, job.output};
  std::string reason = cluster::first_complaint(job.program, texts);
  if (reason.empty() && records.end) reason = cluster::cleaned_line(records.end->reason);
  if (cluster::is_timed_out(job.status)) {
    return {Outcome::kFailed,
            fmt::format("no result within {} s (--timeout){}{}", job.limit_s,
                        reason.starts_with(job.program) ? ": " : "", reason.starts_with(job.program) ? reason : "")};
  }
  if (reason.empty()) reason = fmt::format("{} ended with status {}", job.program, job.status);
  return {outcome_of_status(job.status), reason};
}

/// Why the figures are not of the hosts that were asked for; empty: they are.
std::string wrong_hosts(const JobRecords& records, const std::vector<std::string>& hosts) {
  if (!records.context) return "";
  std::set<std::string> ran;
  for (const RankFacts& rank : records.context->ranks) ran.insert(rank.host);
  if (ran.size() == hosts.size()) return "";
  return fmt::format("{} {} given, and the ranks ran on {}: {}", counted(hosts.size(), "host"),
                     hosts.size() == 1 ? "was" : "were", ran.size(), joined(ran, 80));
}

/// Names of a context's hosts in the list of the run: by name, and else by order.
std::map<std::string, std::string> own_names(const Context& context, const std::vector<std::string>& hosts) {
  std::map<std::string, std::vector<std::string>> by_short;
  for (const std::string& host : hosts) by_short[cluster::short_host_name(host)].push_back(host);
  std::map<std::string, std::string> names;
  for (const RankFacts& rank : context.ranks) {
    if (names.contains(rank.host)) continue;
    const std::size_t number = names.size();
    const std::vector<std::string>& same = by_short[cluster::short_host_name(rank.host)];
    names[rank.host] = same.size() == 1 ? same.front() : number < hosts.size() ? hosts[number] : rank.host;
  }
  return names;
}

void add_sent(baseline::DeviceBytes& sent, const JobRecords& records, const std::vector<std::string>& hosts) {
  if (!records.context) return;
  const std::map<std::string, std::string> names = own_names(*records.context, hosts);
  for (const Row& row : records.rows) {
    for (const std::optional<Measurement>* const place : {&row.out_of_place, &row.in_place}) {
      if (!*place) continue;
      for (const NicBytes& nic : (*place)->nics) {
        if (is_no_nic(nic.name)) continue;
        const auto known = names.find(nic.host);
        sent[known == names.end() ? nic.host : known->second][nic.name] += static_cast<double>(nic.sent);
      }
    }
  }
}

/// The devices that carried what a host sent; empty: it sent too little.
std::string used_nics_of(const std::map<std::string, double>& devices) {
  double all = 0;
  for (const auto& [device, bytes] : devices) all += bytes;
  return all < kLeastBytes ? "" : fmt::format("{}", fmt::join(baseline::used_nics_on(devices), ", "));
}

/// The lines of a program's records, without epochs, of which rows have the medians.
std::string kept_lines(std::string_view output) {
  std::string kept;
  for (const std::string_view line : cluster::lines_of(output)) {
    constexpr std::string_view kBegin = "{\"kind\":";
    const std::size_t begin = line.find(kBegin);
    if (begin == std::string_view::npos) continue;
    const std::size_t kind = line.find('"', begin + kBegin.size()) + 1;
    const std::string_view name = line.substr(kind, line.find('"', kind) - kind);
    if (has(kKept, name)) kept += fmt::format("{}\n", line.substr(begin));
  }
  return kept;
}

}  // namespace

JudgedJob judge_job(const EndedJob& job) {
  try {
    const JobRecords records = records_in(job.output, job.program);
    const std::string problem = wrong_hosts(records, job.hosts);
    return {problem.empty() ? judge_end(job, records) : Judged{Outcome::kFailed, problem}, kept_lines(job.output)};
  } catch (const Error& odd) {
    return {{Outcome::kFailed, odd.what()}, ""};
  }
}

UnusualNics unusual_nics(const RunFolder& folder) {
  baseline::DeviceBytes sent;
  for (const AcceptanceStep* const step : folder.of_stage(Stage::kCollectives)) {
    add_sent(sent, folder.records_of(*step), step->hosts);
  }
  std::map<std::string, std::string> found;                 // by host
  std::map<std::string, std::set<std::string>> by_devices;  // hosts
  for (const auto& [host, devices] : sent) {
    const std::string used_nics = used_nics_of(devices);
    if (used_nics.empty()) continue;
    found[host] = used_nics;
    by_devices[used_nics].insert(host);
  }
  UnusualNics odd;
  if (by_devices.size() < 2) return odd;
  const auto& [usual, most] = *std::max_element(by_devices.begin(), by_devices.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  if (found.size() < kFewestHosts || most.size() < enough(found.size())) {
    std::vector<std::string> told;
    told.reserve(by_devices.size());
    for (const auto& [devices, hosts] : by_devices) told.push_back(fmt::format("{} on {}", devices, joined(hosts, 60)));
    odd.split = fmt::format("data went over {}", fmt::join(told, ", "));
    return odd;
  }
  for (const auto& [host, devices] : found) {
    if (devices == usual) continue;
    odd.of_hosts[host] = fmt::format("its data went over {}, that of {} others over {}", devices, most.size(), usual);
  }
  return odd;
}

}  // namespace fabricbench::acceptance
