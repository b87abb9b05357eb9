#include "common/host/checks/checks.h"

#include <sstream>

#include <fmt/format.h>

namespace fabricbench::host {
namespace {

constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

std::uint64_t limit_in(Look& host, const std::string& source, const std::string& word) {
  return word == "unlimited" ? kUnlimited : host.number_in<std::uint64_t>(source, word);
}

/// The soft and the hard limit.
std::pair<std::uint64_t, std::uint64_t> limits_of(Look& host, const std::string& key) {
  const std::string source = "/proc/self/limits";
  std::istringstream words(host.field(source, key));
  std::string soft;
  std::string hard;
  words >> soft >> hard;
  return {limit_in(host, source, soft), limit_in(host, source, hard)};
}

void tell_limit(Look& host, CheckLevel level, const std::string& measured, const std::string& expected,
                const std::string& consequence, const std::string& next) {
  host.report({.level = level, .measured = measured, .expected = expected, .consequence = consequence, .next = next});
}

/// NCCL raises the soft limit to the hard one; MPI does not.
void examine_open_files(Look& host) {
  constexpr std::uint64_t kMany = 65536;
  constexpr std::uint64_t kFew = 4096;
  const auto [soft, hard] = limits_of(host, "Max open files");
  if (hard >= kMany) return;
  tell_limit(host, hard < kFew ? CheckLevel::kWarning : CheckLevel::kNote,
             fmt::format("a process may open {} files, and raise that to {}", soft, hard), "65536",
             "jobs of many ranks end with 'Too many open files'",
             "nofile in limits.conf; LimitNOFILE= of the unit of slurmd or sshd, which ignore that file");
}

void examine_process_count(Look& host) {
  constexpr std::uint64_t kFew = 4096;
  const auto [soft, hard] = limits_of(host, "Max processes");
  if (soft >= kFew) return;
  tell_limit(host, CheckLevel::kWarning, fmt::format("a user may have {} processes and threads", soft), "at least 4096",
             "threads of NCCL and data loaders fail to start", "nproc in limits.conf; LimitNPROC= of the unit");
}

void examine_process_limits(Look& host) {
  host.attempt([&] { examine_open_files(host); });
  host.attempt([&] { examine_process_count(host); });
}

}  // namespace

Check process_limits_check() {
  return {.name = "process_limits",
          .what = "Limits of open files and of processes leave room for a job.",
          .reads = "/proc/self/limits",
          .look = examine_process_limits};
}

}  // namespace fabricbench::host
