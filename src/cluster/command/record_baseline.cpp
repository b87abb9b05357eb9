// Records a baseline: launches a program several times, spread over time, and keeps every launch.

#include <signal.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cluster/command/command_options.h"
#include "cluster/command/commands.h"
#include "cluster/launch/children.h"
#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kForAnEnd{25};  // of a launch, also for fabricbench run to end ranks by force
constexpr milliseconds kLookAtLaunch{1000};
constexpr int kMostLaunches = 9999;

constexpr const char* kRecordBaselineHelp = R"(usage: scripts/record_baseline.sh [OPTION]... FILE -- COMMAND...

Runs COMMAND several times with '--record FILE' behind it, so that the baseline
in FILE knows by how much launches differ.
  scripts/record_baseline.sh site.jsonl -- build/fabricbench all_reduce -np 16
      nine launches, one after the other
  scripts/record_baseline.sh --launches 3 --spread 8h site.jsonl -- \
      build/fabricbench all_reduce -b 8 -e 1G -f 2
      three launches, four hours apart
  scripts/record_baseline.sh --keep-going site.jsonl -- \
      build/fabricbench send_recv_lat
      goes on when a launch fails

  --launches N    number of launches (default: 9)
  --spread TIME   time from the first launch to the last, such as 20m or 8h
                  (default: no pauses)
  --limit TIME    time limit of each launch (default: 1h; 0s: none)
  --keep-going    go on when a launch fails
  --help          print this text

Exit status: 0 all launches are recorded; else that of the first one that
failed, 2 wrong command line, 124 a launch took longer than --limit, 130
interrupted. Launches that are recorded stay so.
)";

struct Settings {
  int launches = 9;
  seconds spread{0};
  seconds limit{3600};
  bool keep_going = false;
  std::string baseline;
  std::vector<std::string> command;
};

int number_of_launches(const std::string& text) {
  try {
    const int launches = whole_number("--launches", text, 1);
    if (launches <= kMostLaunches) return launches;
  } catch (const UsageError&) {
    // refused below, with the greatest number
  }
  throw UsageError(
      fmt::format("--launches '{}' is not a number of launches; give one from 1 to {}", text, kMostLaunches));
}

std::optional<Settings> read_settings(CommandOptions& options, const std::vector<std::string>& arguments) {
  Settings settings;
  options.flag("--keep-going", [&] { settings.keep_going = true; });
  options.value("--launches", [&](auto&, auto& text) { settings.launches = number_of_launches(text); });
  options.value("--spread", [&](auto& name, auto& text) { settings.spread = seconds(seconds_of(name, text)); });
  options.value("--limit", [&](auto& name, auto& text) { settings.limit = seconds(seconds_of(name, text)); });
  if (!options.read(arguments)) return std::nullopt;
  const auto& words = options.words();
  if (words.size() > 1) {
    throw UsageError(fmt::format("there are two files, '{}' and '{}'; put -- before the command", words[0], words[1]));
  }
  if (words.empty()) throw UsageError("no file is given; name the baseline, such as results/site.jsonl");
  if (options.behind().empty()) throw UsageError("no command is given; put it behind --");
  settings.baseline = words.front();
  settings.command = options.behind();
  return settings;
}

/// Whether a signal is to end this.
bool ends(std::optional<int> told) { return told == SIGINT || told == SIGTERM || told == SIGHUP || told == SIGQUIT; }

/// Waits for the end of a launch, for so long; 0: without limit. Nothing: a signal came, or the time is over.
std::optional<int> wait_for(Child& launch, Signals& signals, seconds most, bool& interrupted) {
  const auto deadline = Clock::now() + most;
  while (!launch.status() && (most.count() == 0 || Clock::now() < deadline)) {
    if (ends(signals.wait(kLookAtLaunch))) {
      interrupted = true;
      break;
    }
  }
  return launch.status();
}

/// One launch. Its output goes to standard error, since standard output is ours. Returns its status.
int launch(const Settings& settings, Signals& signals, bool& interrupted) {
  Command command{{}, settings.command};
  command.words.insert(command.words.end(), {"--record", settings.baseline});
  Child child(command, {STDERR_FILENO, STDERR_FILENO});
  if (const auto status = wait_for(child, signals, settings.limit, interrupted)) return *status;
  child.tell_group(SIGTERM);
  bool again = false;
  std::ignore = wait_for(child, signals, kForAnEnd, again);
  return kTimedOut;
}

/// Waits for the time of the next launch. False after a signal.
bool pause(seconds most, Signals& signals) {
  const auto until = Clock::now() + most;
  while (Clock::now() < until) {
    if (ends(signals.wait(kLookAtLaunch))) return false;
  }
  return true;
}

int record(const Settings& settings, const CalledAs& called) {
  Signals signals;
  int recorded = 0;
  int failure = 0;
  const auto progress = [&] {
    return fmt::format("{} of {} launches are recorded in {}", recorded, settings.launches, settings.baseline);
  };
  for (int number = 1; number <= settings.launches; ++number) {
    bool interrupted = number > 1 && !pause(settings.spread / (settings.launches - 1), signals);
    const int status = interrupted ? 0 : launch(settings, signals, interrupted);
    if (interrupted) {
      warn(called, "interrupted: " + progress());
      return kInterrupted;
    }
    if (status == 0) {
      ++recorded;
      continue;
    }
    warn(called, fmt::format("launch {} of {} failed with status {}: {}", number, settings.launches, status,
                             quoted(settings.command)));
    if (failure == 0) failure = status;
    if (!settings.keep_going) break;
  }
  fmt::print("{}: {}\n", called.name, progress());
  return failure;
}

}  // namespace

ExitStatus record_baseline(const std::vector<std::string>& arguments) {
  CommandOptions options(CalledAs("record_baseline"), kRecordBaselineHelp);
  return static_cast<ExitStatus>(run_tool(options.called().name, [&] {
    const auto settings = read_settings(options, arguments);
    return settings ? static_cast<ExitStatus>(record(*settings, options.called())) : ExitStatus::kOk;
  }));
}

}  // namespace fabricbench::cluster
