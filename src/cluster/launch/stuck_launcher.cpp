#include "cluster/launch/stuck_launcher.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/host/files.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr int kStaysSeconds = 20;         // an agent that is there for so long stays as long as its daemon
constexpr int kAloneSeconds = 10;         // for a launcher to end after its ranks
constexpr int kToStartSeconds = 30;       // for a launcher on this host to start a rank
constexpr int kLooksSeconds = 5;          // between looks for hosts that are out of reach
constexpr unsigned kResent = 7;           // packets, the last one after some 25 s, before a host counts as that
constexpr milliseconds kSlowPause{2000};  // once it has ranks or daemons

std::string text_of(const fs::path& path) { return host::read_text(path).value_or(""); }

/// The words of a process, each followed by a blank, with one before them; just that of a process that is gone.
std::string words_of(pid_t process) {
  std::string text = text_of(fmt::format("/proc/{}/cmdline", process));
  std::replace(text.begin(), text.end(), '\0', ' ');
  return " " + text;
}

bool is_zombie(pid_t process) {
  const std::string text = text_of(fmt::format("/proc/{}/stat", process));
  const std::size_t state = text.rfind(") ");
  return state == std::string::npos || text[state + 2] == 'Z';
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", parent), error)) {
    std::istringstream numbers(text_of(task.path() / "children"));
    for (pid_t child = 0; numbers >> child;) children.push_back(child);
  }
  return children;
}

/// Whether a command line runs the program, by a path or its name alone.
bool runs(const std::string& words, std::string_view program) {
  return words.find(fmt::format("/{} ", program)) != std::string::npos ||
         words.find(fmt::format(" {} ", program)) != std::string::npos;
}

bool has_socket(pid_t process, std::string_view inode) {
  const std::string wanted = fmt::format("socket:[{}]", inode);
  std::error_code error;
  for (const auto& file : fs::directory_iterator(fmt::format("/proc/{}/fd", process), error)) {
    if (fs::read_symlink(file.path(), error) == wanted) return true;
  }
  return false;
}

/// Whether a host has acknowledged nothing of what the launcher sent it, for half a minute. TCP's keepalive does not
/// notice: it leaves that to retransmissions, which go on for a quarter of an hour. Source: proc_net_tcp.txt of Linux.
bool has_lost_host(pid_t launcher) {
  for (const std::string_view table : {"tcp", "tcp6"}) {
    std::ifstream lines(fmt::format("/proc/{}/net/{}", launcher, table));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string number, here, there, state, queues, timer, resent, user, timeout, inode;
      fields >> number >> here >> there >> state >> queues >> timer >> resent >> user >> timeout >> inode;
      const bool may_send = state == "01" || state == "04";  // established, or closed at this end
      unsigned count = 0;
      std::from_chars(resent.data(), resent.data() + resent.size(), count, 16);
      if (may_send && !queues.starts_with("00000000:") && count >= kResent && has_socket(launcher, inode)) return true;
    }
  }
  return false;
}

int seconds_since(Clock::time_point time) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - time).count());
}

}  // namespace

StuckLauncher::StuckLauncher(WatchedJob job, pid_t launcher) : job_(std::move(job)), launcher_(launcher) {}

void StuckLauncher::look_at(pid_t child, std::vector<pid_t>& parents) {
  if (is_zombie(child)) return;
  children_.push_back(child);
  const std::string words = words_of(child);
  if (words.starts_with(fmt::format(" {} ", job_.program))) {
    ++ranks_here_;
  } else if (words.find(" --daemonize ") != std::string::npos) {
    return;  // an agent that goes in a moment
  } else if (runs(words, "orted") || runs(words, "prted")) {
    ++daemons_;
  } else {
    if (words.find("hydra_pmi_proxy ") != std::string::npos) ++daemons_;  // whose children are ranks
    parents.push_back(child);  // or the launcher itself, where a site has a script of its name
  }
}

void StuckLauncher::look() {
  children_.clear();
  ranks_here_ = 0;
  daemons_ = 0;
  std::vector<pid_t> parents = {launcher_};
  for (std::size_t next = 0; next < parents.size(); ++next) {
    for (const pid_t child : children_of(parents[next])) look_at(child, parents);
  }
}

/// srun's ranks are no children of it: of all processes those that know this run; then only these.
void StuckLauncher::find_ranks_of_srun() {
  std::vector<pid_t> candidates = std::move(ranks_of_srun_);
  if (candidates.empty()) {
    std::error_code error;
    for (const auto& folder : fs::directory_iterator("/proc", error)) {
      const std::string name = folder.path().filename();
      pid_t process = 0;
      if (std::from_chars(name.data(), name.data() + name.size(), process).ec == std::errc{}) {
        candidates.push_back(process);
      }
    }
  }
  ranks_of_srun_.clear();
  const std::string mark = fmt::format("FABRICBENCH_RUN={}", ::getpid());
  for (const pid_t process : candidates) {
    if (!words_of(process).starts_with(fmt::format(" {} ", job_.program))) continue;
    std::istringstream variables(text_of(fmt::format("/proc/{}/environ", process)));
    for (std::string variable; std::getline(variables, variable, '\0');) {
      if (variable == mark) ranks_of_srun_.push_back(process);
    }
  }
  ranks_here_ = static_cast<int>(ranks_of_srun_.size());
}

/// How long the launcher may go on from now on; nothing: without limit, since what it waits for is there.
std::optional<StuckLauncher::Limit> StuckLauncher::limit() {
  const bool is_bounded = job_.ranks_end_s > 0;
  const std::string ended = job_.by_srun || job_.on_hosts ? "its ranks here ended" : "its ranks ended";
  if (stays_ && children_.empty()) return Limit{kAloneSeconds, ended};
  if (had_ranks_ && ranks_here_ == 0 && is_bounded) return Limit{job_.ranks_end_s + kAloneSeconds, ended};
  if (stays_ && daemons_ < most_daemons_ && ranks_here_ == 0 && is_bounded) {
    return Limit{job_.ranks_end_s + kAloneSeconds, "the daemon of a host ended"};
  }
  if (job_.all_here && !had_ranks_ && is_bounded) {
    return Limit{std::max(job_.ranks_end_s, kToStartSeconds) + kAloneSeconds, "it began without any rank"};
  }
  return std::nullopt;
}

std::optional<std::string> StuckLauncher::why() {
  if (job_.by_srun) {
    find_ranks_of_srun();
    pause_ = kSlowPause;
  } else {
    look();
  }
  had_ranks_ = had_ranks_ || ranks_here_ > 0;
  most_daemons_ = std::max(most_daemons_, daemons_);
  // An agent may end before its daemon, and does so at once.
  if (!job_.by_srun && (job_.on_hosts ? daemons_ > 0 && seconds_since(began_) >= kStaysSeconds : ranks_here_ > 0)) {
    stays_ = true;
  }
  if (had_ranks_ || stays_) pause_ = kSlowPause;
  const std::optional<Limit> limit = this->limit();
  if (!limit) since_ = Clock::now();
  if (limit && seconds_since(since_) >= limit->seconds) {
    return fmt::format("although {} {} s ago", limit->what, seconds_since(since_));
  }
  if (job_.on_hosts && seconds_since(looked_) >= kLooksSeconds) {
    looked_ = Clock::now();
    if (has_lost_host(launcher_)) return "with a host that is out of reach";
  }
  return std::nullopt;
}

}  // namespace fabricbench::cluster
