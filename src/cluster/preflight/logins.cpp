#include "cluster/preflight/logins.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/launch/children.h"
#include "cluster/launch/job_output.h"
#include "cluster/launch/launcher.h"
#include "common/core/plain_text.h"

namespace fabricbench::cluster {
namespace {

using host::CheckFinding;
using host::CheckLevel;
using host::CheckResult;

constexpr int kNoLogin = 255;  // ssh's own status
constexpr double kSlowSeconds = 2;
constexpr const char* kOptions = "-o BatchMode=yes -o ConnectTimeout=5";

/// What ssh says, what that means, and what to do.
struct Explanation {
  std::string_view part;
  const char* measured;
  const char* next;
};

constexpr std::array kExplanations = {
    Explanation{"Permission denied", "ssh wants a password, or a key that it does not have",
                "ssh-copy-id HOST, with a key without a passphrase or an agent that has it"},
    Explanation{"Host key verification failed", "ssh does not know the host's key, or knows another one",
                "ssh HOST once by hand, or ssh-keyscan HOST >> ~/.ssh/known_hosts"},
    Explanation{"REMOTE HOST IDENTIFICATION HAS CHANGED", "the host has another key than ssh knows",
                "ssh-keygen -R HOST, if the host was installed again"},
    Explanation{"Connection refused", "nobody listens at the port of ssh", "systemctl status sshd on that host"},
    Explanation{"No route to host", "there is no way to it", "is the host up; ip route get ADDRESS"},
    Explanation{"timed out", "there is no answer", "is the host up; a firewall that drops packets"},
    Explanation{"Could not resolve hostname", "its name leads to no address", "getent hosts HOST; /etc/hosts, DNS"},
    Explanation{"Name or service not known", "its name leads to no address", "getent hosts HOST; /etc/hosts, DNS"},
};

CheckFinding explained(const std::string& said, const std::string& begin) {
  const auto found = std::find_if(kExplanations.begin(), kExplanations.end(),
                                  [&](const Explanation& each) { return said.find(each.part) != std::string::npos; });
  const bool is_known = found != kExplanations.end();
  return {.level = CheckLevel::kFailure,
          .measured = begin + (is_known ? std::string(found->measured) : "ssh failed: " + cleaned_line(said)),
          .expected = "a login without a question",
          .consequence = "mpirun ends with 'lost connection to daemon', or hangs",
          .next = is_known ? found->next : "ssh -v HOST true"};
}

/// The lines by their keys, in their order.
std::multimap<std::string, std::string> facts_of(std::string_view text) {
  std::multimap<std::string, std::string> facts;
  for (const std::string_view line : lines_of(text)) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    facts.emplace(std::string(line.substr(0, blank)), std::string(host::without_blanks(line.substr(blank + 1))));
  }
  return facts;
}

std::string first_of(const std::multimap<std::string, std::string>& facts, const std::string& key) {
  const auto found = facts.find(key);
  return found == facts.end() ? "" : found->second;
}

CheckResult judge_ssh(const Login& login) {
  CheckResult result{.check = "ssh"};
  if (login.status == kNoLogin || login.status == kTimedOut) {
    result.findings.push_back(explained(login.status == kTimedOut ? "timed out" : login.errors, ""));
  } else if (login.seconds > kSlowSeconds && facts_of(login.text).count("peer") == 0) {
    result.findings.push_back({.measured = fmt::format("a login takes {:.0f} s", login.seconds),
                               .expected = "less than 2 s",
                               .consequence = "jobs of many hosts start slowly",
                               .next = "UseDNS no and GSSAPIAuthentication no in sshd_config"});
  }
  set_outcome(result);
  return result;
}

CheckResult judge_peers(const std::multimap<std::string, std::string>& facts) {
  CheckResult result{.check = "ssh_between_hosts"};
  const auto [first, last] = facts.equal_range("peer");
  for (auto each = first; each != last; ++each) {
    const std::vector<std::string> words = split_words(each->second);
    if (words.size() < 2 || words[1] == "0") continue;
    CheckFinding finding = explained(each->second, fmt::format("from it to {}: ", words[0]));
    finding.consequence = "mpirun starts its daemons along a tree of hosts: it hangs, or loses those behind this one";
    result.findings.push_back(std::move(finding));
  }
  set_outcome(result);
  return result;
}

/// The program, its libraries and MPI's daemon, as a shell without a login finds them.
CheckResult judge_programs(const std::multimap<std::string, std::string>& facts) {
  CheckResult result{.check = "programs"};
  const auto fail = [&](const std::string& measured, const char* expected, const char* next) {
    result.findings.push_back({.level = CheckLevel::kFailure,
                               .measured = measured,
                               .expected = expected,
                               .consequence = "mpirun cannot start ranks there",
                               .next = next});
  };
  if (first_of(facts, "daemon").empty()) {
    fail("neither orted nor prted nor hydra_pmi_proxy is on the PATH of a shell without a login",
         "the same MPI as on the other hosts",
         "set PATH in ~/.bashrc above the line that ends it for such shells, or "
         "mpirun --prefix FOLDER");
  }
  if (first_of(facts, "program").empty()) {
    fail("the programs of the suite are not at the same path", "the same folder on all hosts",
         "install the package, or use a shared folder");
  }
  const auto [first, last] = facts.equal_range("missing");
  for (auto each = first; each != last; ++each) {
    fail(fmt::format("all_reduce_perf does not find {}", each->second), "the same libraries on all hosts",
         "LD_LIBRARY_PATH in ~/.bashrc, or build with its folder");
  }
  for (const char* key : {"program", "mpi", "kernel", "locked"}) {
    const std::string value = first_of(facts, key);
    if (!value.empty()) result.facts.push_back({.key = key, .value = value});
  }
  set_outcome(result);
  return result;
}

}  // namespace

std::vector<std::string> peers_of(const std::vector<std::string>& hosts, std::size_t host) {
  std::vector<std::string> peers;
  for (const std::size_t distance : {std::size_t{1}, hosts.size() / 2}) {
    const std::string& peer = hosts[(host + distance) % hosts.size()];
    if (peer != hosts[host] && std::find(peers.begin(), peers.end(), peer) == peers.end()) peers.push_back(peer);
  }
  return peers;
}

std::string login_script(const LoginQuestions& questions) {
  const std::string program = shell_word(questions.program);
  std::string script = fmt::format(
      "echo kernel $(uname -r); echo locked $(ulimit -l); "
      "echo daemon $(command -v orted || command -v prted || command -v hydra_pmi_proxy); "
      "echo mpi $(mpirun --version 2>/dev/null | head -n 1); echo program $(cksum 2>/dev/null <{0}); "
      "ldd {0} 2>/dev/null | sed -n 's/^[[:space:]]*\\(.*\\) => not found.*/missing \\1/p'",
      program);
  for (const std::string& peer : questions.peers) {
    script +=
        fmt::format("; said=$(ssh {0} {1} true 2>&1 </dev/null); echo peer {1} $? $said", kOptions, shell_word(peer));
  }
  return script;
}

std::vector<std::string> login_command(const std::string& host, const LoginQuestions& questions) {
  std::vector<std::string> words = {"ssh"};
  append(words, split_words(kOptions));
  append(words, {host, login_script(questions)});
  return words;
}

const std::vector<host::Check>& login_checks() {
  constexpr const char* kOtherBuilds = "processes of other builds or other MPI libraries hang, or end at once";
  static const std::vector<host::Check> checks = {
      {.name = "ssh", .what = "This host logs in to every host by ssh, without a password.", .reads = "ssh"},
      {.name = "ssh_between_hosts", .what = "Hosts log in to each other in the same way.", .reads = "ssh from there"},
      {.name = "programs",
       .what = "A shell without a login finds MPI and the same programs on every host.",
       .reads = "command -v, ldd, cksum",
       .compared = {{.key = "program",
                     .title = "all_reduce_perf (cksum)",
                     .level = CheckLevel::kFailure,
                     .consequence = kOtherBuilds,
                     .next = "install one build on all hosts"},
                    {.key = "mpi",
                     .title = "MPI",
                     .level = CheckLevel::kFailure,
                     .consequence = kOtherBuilds,
                     .next = "mpirun --version on both"},
                    {.key = "kernel", .title = "kernel", .consequence = "drivers differ", .next = "uname -r"},
                    {.key = "locked",
                     .title = "memory that can be locked, in KiB",
                     .consequence = "RDMA fails where it is little",
                     .next = "ulimit -l in a shell without a login; /etc/security/limits.conf"}}}};
  return checks;
}

host::HostReport judge_login(const std::string& host, const Login& login) {
  host::HostReport report{host, "all", {judge_ssh(login)}};
  if (login.status == kNoLogin || login.status == kTimedOut) return report;
  const std::multimap<std::string, std::string> facts = facts_of(login.text);
  report.results.push_back(judge_peers(facts));
  report.results.push_back(judge_programs(facts));
  return report;
}

}  // namespace fabricbench::cluster
