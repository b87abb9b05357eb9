#include "cluster/command/pair_job.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/commands.h"
#include "cluster/command/pair_readings.h"
#include "common/core/error.h"
#include "common/core/units.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kMpiTests = {"pairwise_bw", "send_recv_bibw", "send_recv_bw"};
constexpr std::array<std::string_view, 2> kTcpTests = {"tcp_bibw", "tcp_bw"};
constexpr std::array<std::string_view, 3> kVerbsTests = {"rdma_write_bw", "rdma_read_bw", "rdma_send_bw"};
constexpr std::array<std::string_view, 1> kGpuTests = {"sendrecv_perf"};

bool is_one_of(std::string_view word, auto&& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool is_of_verbs(std::string_view test) { return test.starts_with("rdma_"); }

[[noreturn]] void refuse_test(const std::string& test) {
  if (test == "all_reduce_perf") {
    throw UsageError(
        "--test all_reduce_perf: its busbw on two hosts can exceed the NICs' rate and hide a slow link, because a tree "
        "of two ranks sends less than the formula counts; use sendrecv_perf");
  }
  const PairTests tests = pair_tests();
  throw UsageError(fmt::format("--test '{}' does not measure a pair of hosts; use one of {} {} {} {}", test, tests.mpi,
                               tests.tcp, tests.verbs, tests.gpu));
}

/// A number of GB/s such as 12.5.
double rate_given(const std::string& option, const std::string& text) {
  const std::size_t point = text.find('.');
  const auto is_number = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const std::string_view view = text;
  if (!is_number(view.substr(0, point)) || (point != std::string::npos && !is_number(view.substr(point + 1)))) {
    throw UsageError(fmt::format("{} '{}' is not a number of GB/s, such as 12.5", option, text));
  }
  return std::stod(text);
}

/// Sets what was left open. The other host is assumed to have as many GPUs as this one.
PairSettings with_defaults(PairSettings settings) {
  const bool may_use_gpus = settings.test.empty() || is_one_of(settings.test, kGpuTests);
  int gpus = settings.gpus ? *settings.gpus : may_use_gpus ? count_gpus() : 0;
  if (settings.test.empty()) settings.test = gpus > 0 ? "sendrecv_perf" : "pairwise_bw";
  const std::string& test = settings.test;
  const bool is_known = is_one_of(test, kMpiTests) || is_one_of(test, kTcpTests) || is_one_of(test, kVerbsTests);
  if (!is_known && !is_one_of(test, kGpuTests)) refuse_test(test);
  if (!is_one_of(test, kGpuTests)) gpus = 1;
  settings.gpus = std::max(gpus, 1);
  const auto own = is_of_verbs(test) ? value_of(settings.more, {"-s", "--size"})
                                     : value_of(settings.more, {"-b", "--min-bytes", "--minbytes"});
  if (own && !own->empty()) settings.size = *own;
  if (settings.size.empty()) settings.size = is_one_of(test, kGpuTests) ? "64M" : "1M";
  return settings;
}

/// Whether a rail's name is an RDMA device and not a network interface. This host may not have it.
bool is_rdma_device(const std::string& rail) {
  const std::string name = rail.substr(0, rail.find(':'));
  std::error_code error;
  if (fs::exists(fs::path("/sys/class/infiniband") / name, error)) return true;
  if (fs::exists(fs::path("/sys/class/net") / name, error)) return false;
  constexpr auto kBeginnings =
      std::to_array<std::string_view>({"mlx4_", "mlx5_", "bnxt_re", "irdma", "hfi1_", "qedr", "rdmap", "roce", "rxe",
                                       "siw", "erdma", "hns_", "ionic_"});
  return std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](auto each) { return name.starts_with(each); });
}

/// `:1` of mlx5_0:1, or nothing.
std::string port_of(const std::string& rail) {
  const std::size_t colon = rail.find(':');
  return colon == std::string::npos ? "" : rail.substr(colon);
}

}  // namespace

void add_pair_options(CommandOptions& options, PairSettings& settings) {
  options.value("--test", settings.test);
  options.flag("--rdma", [&settings] { settings.test = "rdma_write_bw"; });
  options.value("--gpus",
                [&settings](const auto& name, const auto& text) { settings.gpus = whole_number(name, text, 0); });
  options.value("--size", [&settings](const auto&, const auto& text) {
    static_cast<void>(parse_bytes(text));
    settings.size = text;
  });
  options.value("--min-bandwidth",
                [&settings](const auto& name, const auto& text) { settings.least = rate_given(name, text); });
  options.value("--timeout",
                [&settings](const auto& name, const auto& text) { settings.limit_s = whole_number(name, text, 1); });
  options.value("--programs", settings.programs);
  options.value("--launcher", settings.launch.launcher);
  options.value("--agent", settings.launch.agent);
  options.value("--mpi-options",
                [&settings](const auto&, const auto& text) { settings.launch.mpi_options = split_words(text); });
  options.value("--records", settings.records);
  options.value("--logs", settings.logs);
}

PairTests pair_tests() {
  const auto joined = [](const auto& names) { return fmt::format("{}", fmt::join(names, " ")); };
  return {joined(kMpiTests), joined(kTcpTests), joined(kVerbsTests), joined(kGpuTests)};
}

bool share_a_job(const std::string& test, const std::vector<std::string>& rails) {
  return is_of_verbs(test) && rails.size() > 1 && std::all_of(rails.begin(), rails.end(), [&](const std::string& rail) {
           return port_of(rail) == port_of(rails.front());
         });
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

RailChoice choose_rail(const std::string& test, const std::string& rail) {
  if (rail.empty()) return {};
  RailChoice choice;
  if (is_one_of(test, kVerbsTests)) {
    std::vector<std::string> devices;
    for (const std::string& each : split_list(rail)) devices.push_back(each.substr(0, each.find(':')));
    // One after the other: all at once may be bound by the hosts' memory or PCIe, which would hide a slow NIC.
    choice.options = {devices.size() > 1 ? "--devices" : "-d", fmt::format("{}", fmt::join(devices, ","))};
    if (devices.size() > 1) choice.options.insert(choice.options.end(), {"--concurrent", "1"});
    const std::string port = port_of(split_list(rail).front());
    if (!port.empty()) choice.options.insert(choice.options.end(), {"-i", port.substr(1)});
  } else if (is_one_of(test, kTcpTests)) {
    choice.options = {"--interface", rail};
  } else if (is_rdma_device(rail)) {
    choice.environment = {"NCCL_IB_HCA==" + rail,
                          fmt::format("UCX_NET_DEVICES={}{}", rail, port_of(rail).empty() ? ":1" : "")};
  } else if (rail.find('/') != std::string::npos) {  // a network, supported only by Open MPI's TCP
    choice.environment = {"OMPI_MCA_btl_tcp_if_include=" + rail};
  } else {
    choice.environment = {"OMPI_MCA_btl_tcp_if_include=" + rail, "UCX_NET_DEVICES=" + rail, "FI_TCP_IFACE=" + rail,
                          "NCCL_SOCKET_IFNAME==" + rail};
  }
  return choice;
}

std::optional<int> wait_for_all(Jobs& jobs) {
  while (jobs.running() > 0) {
    const std::optional<int> told = jobs.step(std::chrono::hours(1));
    if (!told) continue;
    jobs.end_all();
    return told;
  }
  return std::nullopt;
}

PairBenchmark::PairBenchmark(PairSettings settings)
    : settings_(with_defaults(std::move(settings))),
      launcher_(settings_.launch),
      program_(find_program(settings_.test, settings_.programs)) {
  launcher_.require_known();
}

JobShape PairBenchmark::shape_of(const PairJob& job, const fs::path& folder) const {
  int ranks = *settings_.gpus;
  if (is_of_verbs(settings_.test) && job.rail.find(',') != std::string::npos) {
    const std::vector<std::string> rails = split_list(job.rail);
    if (!share_a_job(settings_.test, rails)) {
      throw UsageError(fmt::format(
          "--rail '{}': one job measures several devices at the same port, such as mlx5_0:1,mlx5_1:1", job.rail));
    }
    ranks = static_cast<int>(rails.size());
  }
  return {.hosts = {job.hosts.begin(), job.hosts.end()},
          .ranks = ranks,
          .limit_s = settings_.limit_s,
          .folder = folder,
          .environment = choose_rail(settings_.test, job.rail).environment};
}

Command PairBenchmark::command(const PairJob& job, const fs::path& folder) const {
  // The benchmark's own time limits are below the job's, so that it can name the silent rank.
  const std::string inner_s = std::to_string(settings_.limit_s * 2 / 3 + 1);
  const int pair_s = (settings_.limit_s + 3) / 4;  // in each direction
  const std::string& test = settings_.test;
  const std::string& size = settings_.size;
  std::vector<std::string> words = {program_};
  const auto add = [&](const std::vector<std::string>& more) { words.insert(words.end(), more.begin(), more.end()); };
  add(choose_rail(test, job.rail).options);
  if (test == "pairwise_bw") {
    // The least that it takes.
    add({"-b", size, "--pair-timeout", std::to_string(pair_s), "-T", std::to_string(2 * pair_s + 10)});
  } else if (is_one_of(test, kGpuTests)) {
    add({"-b", size, "-e", size, "--placement", "out", "--backend", "nccl", "-T", inner_s});
    if (*settings_.gpus > 1) add({"--split", fmt::format("MOD {}", *settings_.gpus)});
  } else if (is_of_verbs(test)) {
    add({"-s", size, "-b", "--timeout", inner_s});  // both ways at once: verbs measure each direction
  } else {
    add({"-b", size, "-e", size, "--window", "16", "-T", inner_s});
  }
  // Rank 0's host may share no files with this one, so its JSON comes over standard output.
  add({"--quiet", "--json", "/dev/stdout", "--force"});
  add(settings_.more);
  return launcher_.command(shape_of(job, folder), words);
}

void PairBenchmark::start(Jobs& jobs, const PairJob& job, const fs::path& folder,
                          std::function<void(const PairEnd&)> ended) const {
  fs::create_directories(folder);
  const int limit_s = settings_.limit_s + launcher_.grace_s(shape_of(job, folder));
  jobs.start(command(job, folder), folder / "out", folder / "err", limit_s,
             [this, job, folder, ended = std::move(ended)](const JobEnd& end) {
               if (!end.broken_off) ended(finish_pair(settings_, job, end, folder));
             });
}

}  // namespace fabricbench::cluster
