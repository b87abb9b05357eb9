#include "cluster/command/pair_readings.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cluster/launch/job_output.h"
#include "common/core/error.h"
#include "common/record/context.h"
#include "common/record/row.h"

namespace fabricbench::cluster {
namespace {

/// What hydra and Slurm say when the time limit ends them.
constexpr std::array<std::string_view, 3> kEndedWords = {"[mpiexec@", "srun: ", "slurmstepd"};

bool tells_directions(const std::string& test) {
  return test == "pairwise_bw" || test == "send_recv_bibw" || test == "tcp_bibw" || test.starts_with("rdma_");
}

bool is_one_way(const std::string& test) { return test == "send_recv_bw" || test == "tcp_bw"; }

/// The records that a job has printed.
struct JobRecords {
  bool any = false;
  Context context;
  std::vector<PairFigure> readings;  ///< of pairwise_bw, as it numbers the hosts
  std::vector<Row> rows;
  std::optional<std::string> end_reason;
};

PairFigure figure_of(const RecordedReading& read, const std::string& rail) {
  PairFigure figure{.direction = {static_cast<int>(*read.from), static_cast<int>(*read.to), rail},
                    .status = *read.status,
                    .bandwidth = read.bandwidth,
                    .latency = read.latency,
                    .reason = std::string(read.reason),
                    .size = read.size,
                    .waited = read.processor_wait};
  for (const auto& [end, place] : {std::pair(&read.from_end, 0U), std::pair(&read.to_end, 1U)}) {
    figure.devices[place].gpu = end->gpu;
    figure.devices[place].gpu_uuid = end->gpu_uuid;
  }
  return figure;
}

JobRecords records_in(const std::string& text, const std::string& rail) {
  JobRecords found;
  for_each_record(text, [&](const std::string& kind, record::LineReader& reader) {
    if (kind == "context") found.context = reader.read<Context>();
    if (kind == "row") found.rows.push_back(reader.read<Row>());
    if (kind == "end") found.end_reason = reader.read<Ending>().reason;
    if (kind == "reading") {
      const auto read = reader.read<RecordedReading>();
      const auto is_host = [](const auto& number) { return number && (*number == 0 || *number == 1); };
      if (is_host(read.from) && is_host(read.to) && read.status) found.readings.push_back(figure_of(read, rail));
    }
    found.any = true;
  });
  return found;
}

class PairJudge {
 public:
  PairJudge(const PairSettings& settings, const PairJob& job, int status, const PairOutput& output)
      : settings_(settings), job_(job), status_(status), output_(output), records_(records_in(output.out, job.rail)) {}

  [[nodiscard]] std::vector<PairFigure> figures() {
    if (const std::string problem = same_host(); !problem.empty()) {
      std::vector<PairFigure> figures;
      for (const PairDirection& direction : directions()) {
        figures.push_back({.direction = direction, .status = ReadingStatus::kFailed, .reason = problem});
      }
      return figures;
    }
    std::vector<PairFigure> figures = measured();
    complete(figures);
    std::stable_sort(figures.begin(), figures.end(), [](const PairFigure& a, const PairFigure& b) {
      return std::tie(a.direction.rail, a.direction.sender) < std::tie(b.direction.rail, b.direction.sender);
    });
    for (PairFigure& figure : figures) judge_rate(figure);
    return figures;
  }

 private:
  /// The rails of the job: GPUs, several RDMA devices, or one rail, which may have no name.
  [[nodiscard]] std::vector<std::string> rails() const {
    std::vector<std::string> rails;
    for (int gpu = 0; *settings_.gpus > 1 && gpu < *settings_.gpus; ++gpu) rails.push_back(fmt::format("gpu{}", gpu));
    if (!rails.empty()) return rails;
    return shares_job(settings_, job_) ? split_list(job_.rail) : std::vector{job_.rail};
  }

  /// The readings that a job should give.
  [[nodiscard]] std::vector<PairDirection> directions() const {
    std::vector<PairDirection> all;
    for (const std::string& rail : rails()) {
      all.push_back({0, 1, rail, !tells_directions(settings_.test) && !is_one_way(settings_.test)});
      if (tells_directions(settings_.test)) all.push_back({1, 0, rail});
    }
    return all;
  }

  /// Why the figures are invalid if all ranks ran on one host.
  [[nodiscard]] std::string same_host() const {
    std::set<std::string> hosts;
    for (const RankFacts& rank : records_.context.ranks) hosts.insert(rank.host);
    if (hosts.size() != 1) return "";
    return fmt::format("all ranks ran on {}, so both names are the same host, or the launcher ignored them",
                       *hosts.begin());
  }

  /// Whether rank 0 ran on the second host: some launchers sort hosts.
  [[nodiscard]] bool is_swapped() const {
    if (records_.context.ranks.empty()) return false;
    const std::string first = short_host_name(records_.context.ranks.front().host);
    return first == short_host_name(job_.hosts[1]) && first != short_host_name(job_.hosts[0]);
  }

  [[nodiscard]] std::vector<PairFigure> measured() const {
    std::vector<PairFigure> figures;
    if (settings_.test == "pairwise_bw") figures = records_.readings;
    for (const Row& row : records_.rows) add_row(figures, row);
    if (!is_swapped()) return figures;
    for (PairFigure& figure : figures) {
      figure.direction.sender = 1 - figure.direction.sender;
      figure.direction.receiver = 1 - figure.direction.receiver;
    }
    return figures;
  }

  /// Two directions, one, or the sum of both; nothing for a skipped size.
  void add_row(std::vector<PairFigure>& figures, const Row& row) const {
    if (settings_.test == "pairwise_bw" || !row.out_of_place) return;
    const Measurement& measured = *row.out_of_place;
    const std::uint64_t wrong = measured.wrong.value_or(0);
    PairFigure figure;
    figure.direction = {0, 1, rail_of(row.group), !is_one_way(settings_.test)};
    figure.bandwidth = measured.busbw;
    figure.size = static_cast<std::int64_t>(row.size);
    figure.devices = devices_of(row.group, measured.nics);
    figure.waited = measured.processor_wait;
    if (wrong > 0) {
      figure.status = ReadingStatus::kWrong;
      figure.reason = fmt::format("{} wrong elements", wrong);
    }
    if (measured.directions.size() != 2) {
      figures.push_back(figure);
      return;
    }
    figure.direction.both_ways = false;
    figure.bandwidth = measured.directions[0];
    figures.push_back(figure);
    std::swap(figure.direction.sender, figure.direction.receiver);
    std::swap(figure.devices[0], figure.devices[1]);
    figure.bandwidth = measured.directions[1];
    figures.push_back(figure);
  }

  [[nodiscard]] const GroupFacts* group_of(int group) const {
    const auto& groups = records_.context.groups;
    return group >= 0 && std::cmp_less(group, groups.size()) ? &groups[static_cast<std::size_t>(group)] : nullptr;
  }

  /// The rail of a group of ranks. RDMA devices are told by name, since a pair without a usable one is no group.
  [[nodiscard]] std::string rail_of(int group) const {
    if (*settings_.gpus > 1) return fmt::format("gpu{}", group);
    const GroupFacts* const facts = group_of(group);
    if (!shares_job(settings_, job_) || facts == nullptr) return job_.rail;
    std::string device = facts->ports.substr(0, facts->ports.find(" port "));
    for (const std::string& rail : rails()) {
      if (rail.substr(0, rail.find(':')) == device) return rail;
    }
    return device;
  }

  /// The known devices at both ends of a group's readings.
  [[nodiscard]] std::array<DevicesOfEnd, 2> devices_of(int group, const std::vector<NicBytes>& nics) const {
    std::array<DevicesOfEnd, 2> devices;
    const GroupFacts* const facts = group_of(group);
    if (facts == nullptr) return devices;
    const std::vector<int> ranks = ranks_in(facts->ranks);
    if (ranks.size() != 2) return devices;
    const std::size_t comma = facts->ports.find(", ");
    for (std::size_t end = 0; end < 2; ++end) {
      const RankFacts* const rank = rank_of(ranks[end]);
      if (rank == nullptr) continue;
      const std::string port = comma == std::string::npos ? ""
                               : end == 0                 ? facts->ports.substr(0, comma)
                                                          : facts->ports.substr(comma + 2);
      devices[end] = port.empty() ? interface_of(rank->host, nics) : nic_of(rank->host, port);
      if (rank->gpu) {
        devices[end].gpu = rank->gpu->pci;
        devices[end].gpu_uuid = rank->gpu->uuid;
      }
    }
    return devices;
  }

  /// The ranks of a group: `0-1`, or for a pair the first and the second rank, `8, 0`.
  [[nodiscard]] static std::vector<int> ranks_in(const std::string& text) {
    std::vector<int> ranks;
    for (const std::string& part : split_list(text)) {
      int first = 0;
      int last = 0;
      const int numbers = std::sscanf(part.c_str(), "%d-%d", &first, &last);  // NOLINT(cert-err34-c): it is our own
      if (numbers < 1) continue;
      ranks.push_back(first);
      if (numbers == 2 && last == first + 1) ranks.push_back(last);
    }
    return ranks;
  }

  /// Without those that were left out.
  [[nodiscard]] const RankFacts* rank_of(int number) const {
    const auto& ranks = records_.context.ranks;
    const auto found = std::find_if(ranks.begin(), ranks.end(), [&](const auto& rank) { return rank.rank == number; });
    return found == ranks.end() ? nullptr : &*found;
  }

  [[nodiscard]] std::vector<host::NetworkDevice> network_devices(const std::string& host) const {
    for (const HostFacts& facts : records_.context.host_facts) {
      if (facts.name == host) return facts.network_devices;
    }
    return {};
  }

  /// The NIC of a port such as `mlx5_0 port 1`.
  [[nodiscard]] DevicesOfEnd nic_of(const std::string& host, const std::string& port) const {
    constexpr std::string_view kBetween = " port ";
    const std::size_t at = port.find(kBetween);
    if (at == std::string::npos) return {};
    DevicesOfEnd end;
    end.nic = port.substr(0, at);
    const std::string name = fmt::format("{}:{}", end.nic, port.substr(at + kBetween.size()));
    for (const host::NetworkDevice& device : network_devices(host)) {
      if (device.name == name) end.nic_guid = device.guid.value_or("");
    }
    if (records_.context.wire_rate > 0) end.port_rate = records_.context.wire_rate;
    return end;
  }

  /// The interface or port that carried nearly all bytes of a row on a host; none if several did.
  [[nodiscard]] DevicesOfEnd interface_of(const std::string& host, const std::vector<NicBytes>& nics) const {
    constexpr double kNearlyAll = 0.9;  // a bond and its interfaces count the same bytes twice
    constexpr double kMbit = 1e6 / 8;
    const std::vector<host::NetworkDevice> devices = network_devices(host);
    const host::NetworkDevice* busiest = nullptr;
    double most = 0;
    double all = 0;
    for (const NicBytes& nic : nics) {
      const auto device = std::find_if(devices.begin(), devices.end(),
                                       [&](const auto& each) { return nic.host == host && each.name == nic.name; });
      if (device == devices.end()) continue;
      const auto bytes = static_cast<double>(nic.sent + nic.received);
      all += bytes;
      if (bytes <= most) continue;
      most = bytes;
      busiest = &*device;
    }
    if (busiest == nullptr || most < kNearlyAll * all) return {};
    DevicesOfEnd end;
    end.nic = busiest->name.substr(0, busiest->name.find(':'));
    end.nic_guid = busiest->guid.value_or("");
    if (busiest->speed_mbit_per_s.value_or(0) > 0) {
      end.port_rate = static_cast<double>(*busiest->speed_mbit_per_s) * kMbit;
    }
    return end;
  }

  /// Adds failed readings, with the reason, for those that are not there.
  void complete(std::vector<PairFigure>& figures) const {
    std::set<std::tuple<int, int, std::string>> known;
    for (const PairFigure& figure : figures) {
      known.emplace(figure.direction.sender, figure.direction.receiver, figure.direction.rail);
    }
    std::optional<std::pair<ReadingStatus, std::string>> why;
    for (const PairDirection& direction : directions()) {
      const auto& [sender, receiver, rail, both_ways] = direction;
      if (known.contains({sender, receiver, rail}) || (both_ways && known.contains({receiver, sender, rail}))) continue;
      if (!why) why = why_nothing();
      figures.push_back({.direction = direction, .status = why->first, .reason = why->second});
    }
  }

  [[nodiscard]] std::string complaint() const {
    const std::array<std::string_view, 2> texts = {output_.err, output_.out};
    return first_complaint(settings_.test, texts);
  }

  /// Status and reason of a direction without a figure.
  [[nodiscard]] std::pair<ReadingStatus, std::string> why_nothing() const {
    const std::string said = complaint();
    const bool is_own = said.starts_with(settings_.test);
    if (is_timed_out(status_)) return {ReadingStatus::kTimeout, how_far(is_own ? said : "")};
    if (status_ == static_cast<int>(ExitStatus::kTimeout) && (records_.end_reason || !said.empty())) {
      return {ReadingStatus::kTimeout, !said.empty() ? said : cleaned_line(*records_.end_reason)};
    }
    if (status_ == static_cast<int>(ExitStatus::kWrongData)) {
      return {ReadingStatus::kWrong, !said.empty() ? said : "wrong data"};
    }
    for (const Row& row : records_.rows) {
      if (!row.skipped.empty()) return {ReadingStatus::kFailed, cleaned_line(row.skipped)};
    }
    const std::string ended = fmt::format("the job ended with status {}", status_);
    if (said.empty()) return {ReadingStatus::kFailed, ended + " and said nothing"};
    return {ReadingStatus::kFailed, is_own ? said : fmt::format("{}: {}", ended, said)};
  }

  /// Of a job that took too long. `own`: the benchmark's own message.
  [[nodiscard]] std::string how_far(const std::string& own) const {
    std::string text = fmt::format("no result within {} s: ", settings_.limit_s);
    if (!own.empty()) return text + own;
    // The first line of a record comes when all ranks have met.
    if (records_.any) return text + "the ranks had met, and then got stuck";
    text += "the ranks had not even met";
    if (status_ == kMpirunTimedOut) return text;
    // Hydra waits until the time limit where ssh has long ended.
    const std::array<std::string_view, 1> errors = {output_.err};
    const std::string said = said_by_agent(errors, kEndedWords);
    return said.empty() ? text : fmt::format("{}; {}", text, said);
  }

  void judge_rate(PairFigure& figure) const {
    if (figure.status != ReadingStatus::kOk) return;
    // What a busy host shows is no figure of the network.
    if (settings_.least && figure.bandwidth && figure.waited <= 0 && *figure.bandwidth < *settings_.least * 1e9) {
      figure.status = ReadingStatus::kSlow;
      figure.reason =
          fmt::format("{:.4g} GB/s is below --min-bandwidth {:g}", *figure.bandwidth / 1e9, *settings_.least);
    } else if (status_ == static_cast<int>(ExitStatus::kTooSlow)) {  // required by the benchmark's own options
      figure.status = ReadingStatus::kSlow;
      figure.reason = complaint();
      if (figure.reason.empty()) figure.reason = "slower than required";
    }
  }

  const PairSettings& settings_;
  const PairJob& job_;
  int status_;
  const PairOutput& output_;
  JobRecords records_;
};

}  // namespace

bool shares_job(const PairSettings& settings, const PairJob& job) {
  return settings.test.starts_with("rdma_") && job.rail.find(',') != std::string::npos;
}

std::vector<PairFigure> judge_pair(const PairSettings& settings, const PairJob& job, int status,
                                   const PairOutput& output) {
  return PairJudge(settings, job, status, output).figures();
}

}  // namespace fabricbench::cluster
