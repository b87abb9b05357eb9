#include "common/watch/watchdog.h"

#include <sys/time.h>

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/core/wording.h"

namespace fabricbench {
namespace {

// Not the clock of the measurements, which tests replace: a watchdog needs the real time.
using SteadyClock = std::chrono::steady_clock;

const char* words_for(Phase phase) {
  switch (phase) {
    case Phase::kStartMpi: return "starting MPI (MPI_Init)";
    case Phase::kAgree: return "agreeing on the options";
    case Phase::kSetUp: return "setting up";
    case Phase::kConnect: return "connecting the ranks by";
    case Phase::kEstimate: return "estimating";
    case Phase::kPrepare: return "filling the buffers for";
    case Phase::kWarmUp: return "warming up";
    case Phase::kMeasure: return "measuring";
    case Phase::kReduce: return "collecting the times of";
    case Phase::kCheck: return "checking";
    case Phase::kReport: return "reporting";
    case Phase::kIdle: return "waiting for the others to end";
    case Phase::kRelease: return "releasing buffers and libraries";
    case Phase::kEndMpi: return "ending MPI (MPI_Finalize)";
    case Phase::kLeave: return "waiting for the others to end MPI";
    case Phase::kClose: break;
  }
  return "writing the end of the results";
}

bool has_case(Phase phase) { return phase >= Phase::kConnect && phase <= Phase::kReport; }

/// What a process that has met no other can say about them.
const char* guess_for(Phase phase) {
  switch (phase) {
    case Phase::kStartMpi:
    case Phase::kEndMpi:
      return "which takes until every rank of the job has got there: is one stopped, dead or out of reach?";
    case Phase::kClose: return "is a file system or a reader of the output stuck?";
    default: return "and does not know what the others were doing";
  }
}

extern "C" void end_at_once(int /*signal*/) { _exit(static_cast<int>(ExitStatus::kTimeout)); }

/// Output may be what is stuck.
void limit_own_end() {
  constexpr unsigned kLongEnough = 10;
  std::signal(SIGALRM, end_at_once);
  alarm(kLongEnough);
}

}  // namespace

/// A look may come a sixteenth of the timeout late: together within the promised quarter and 2 s (docs/reliability.md).
Seconds StallDetector::patience(int rank, Seconds timeout, Seconds grace) {
  return rank == 0 ? timeout + grace : timeout * 1.1875 + 2;
}

Seconds StallDetector::interval(Seconds timeout) { return std::clamp(timeout / 16, 0.05, 1.0); }

StallDetector::Stall StallDetector::look(const Observation& sight) {
  if (sight.steps != last_.steps) {
    last_ = sight;
    pause_ = std::min(2 * pause_, std::max(timeout_ / 16, interval(timeout_)));
    return {.next_look_s = pause_};
  }
  pause_ = interval(timeout_);
  Stall stall{.next_look_s = pause_};
  stall.stuck_s = sight.time - last_.time;
  if (stall.stuck_s < (timeout_ + sight.longer_s) / 2) return stall;
  stall.busy = (sight.awake - last_.awake) / stall.stuck_s;
  stall.action = stall.stuck_s < patience_ + sight.longer_s ? Action::kReport : Action::kEnd;
  return stall;
}

void Heartbeat::enter_case(const std::string& label) {
  const std::lock_guard lock(mutex_);
  label_ = label;
}

std::string Heartbeat::activity() const {
  const std::lock_guard lock(mutex_);
  const char* words = words_for(phase());
  return label_.empty() || !has_case(phase()) ? words : fmt::format("{} {}", words, label_);
}

struct Watchdog::Group {
  /// `patience`: as for FailureDetector.
  Group(const mpi::Communicator& group, Watched known, Seconds patience)
      : rank(group.rank()),
        names(group.gather(known.name)),
        first(group.broadcast(known.name)),
        watched(std::move(known)),
        table(group),
        roll(patience, group.rank()) {}

  /// Now that they meet. On processes other than the first one: that one only.
  void hear_all(Seconds now) {
    for (int process = 0; process < (rank == 0 ? static_cast<int>(names.size()) : 1); ++process)
      roll.hear(process, now);
  }

  int rank;
  std::vector<std::string> names;  // of all processes, on the first one
  std::string first;               // the first process's
  Watched watched;
  ProcessTable table;
  FailureDetector roll;
};

Watchdog::Watchdog(Seconds timeout, StallAction action, int rank, std::string name,
                   std::function<void(const std::string&)> on_timeout)
    : name_(std::move(name)), rank_(rank), jitter_(rank), on_timeout_(std::move(on_timeout)) {
  set_limit(timeout, action);
}

Watchdog::~Watchdog() { stop(); }

void Watchdog::set_limit(Seconds timeout, StallAction action) {
  stop();
  timeout_ = timeout;
  stack_.reset();
  if (action == StallAction::kStack) stack_.emplace();
  if (timeout > 0) thread_ = std::thread([this] { watch(); });
}

void Watchdog::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
  stopping_ = false;
}

namespace {

/// Returns who was heard. Collective.
std::set<int> greet(const mpi::Communicator& group, ProcessTable& table) {
  std::set<int> heard;
  for (int answer = 0; answer < 3; ++answer) {
    table.say_here();
    heard.merge(table.listen());
    if (answer < 2) group.barrier();
  }
  return heard;
}

}  // namespace

void Watchdog::meet(const mpi::Communicator& group, Watched watched) {
  auto met = std::make_unique<Group>(group, std::move(watched), patience());
  if (met->watched.greets) static_cast<void>(greet(group, met->table));
  const std::lock_guard lock(mutex_);
  met->hear_all(sight().time);
  group_ = std::move(met);
  heartbeat_.restart();
  is_new_ = true;
  changed_.notify_one();
}

void Watchdog::part() {
  const std::lock_guard lock(mutex_);
  group_.reset();
  heartbeat_.restart();
  is_new_ = true;
  changed_.notify_one();
}

void Watchdog::leave() {
  constexpr std::chrono::milliseconds kFirstPause(1);
  constexpr std::chrono::milliseconds kLongestPause(250);  // between goodbyes; the first process listens at once
  heartbeat_.enter(Phase::kLeave);
  std::chrono::milliseconds waited(0);
  for (auto pause = kFirstPause; !may_leave(std::chrono::duration<Seconds>(waited).count()); waited += pause) {
    if (rank_ != 0) pause = std::min(2 * pause, kLongestPause);
    std::this_thread::sleep_for(pause);
  }
  part();
  const std::lock_guard lock(mutex_);
  world_.reset();
}

bool Watchdog::may_leave(Seconds waited) {
  const std::lock_guard lock(mutex_);
  return !group_ || timeout_ <= 0 || take_leave(group_->table, group_->roll, heartbeat_.steps(), waited, sight().time);
}

void Watchdog::call_roll(const mpi::Communicator& world, Watched watched) {
  auto all = std::make_unique<Group>(world, std::move(watched), patience());
  const std::set<int> heard = greet(world, all->table);
  const std::lock_guard lock(mutex_);
  world_ = std::move(all);
  for (const int rank : heard) world_->roll.hear(rank, sight().time);
}

Seconds Watchdog::patience() const {
  constexpr Seconds kAny = 1;  // nobody looks
  return StallDetector::patience(rank_, timeout_ > 0 ? timeout_ : kAny, 0);
}

Watchdog::Group* Watchdog::company() const { return group_ ? group_.get() : world_.get(); }

/// The time for which the main thread has had a processor or waited for one: on a crowded machine, a rank that polls
/// may get almost none. Without schedstat (proc(5)) waiting does not count. 0 if unknown.
Seconds Watchdog::time_awake() const {
  std::uint64_t running_ns = 0;
  std::uint64_t runnable_ns = 0;
  std::ifstream file(fmt::format("/proc/self/task/{}/schedstat", main_thread_id_));
  if (file >> running_ns >> runnable_ns) return 1e-9 * static_cast<Seconds>(running_ns + runnable_ns);
  clockid_t clock{};
  timespec time{};
  if (pthread_getcpuclockid(main_thread_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<Seconds>(time.tv_sec) + 1e-9 * static_cast<Seconds>(time.tv_nsec);
}

std::string Watchdog::activity() const {
  const std::string state = group_ && group_->watched.state ? group_->watched.state() : "";
  return state.empty() ? heartbeat_.activity() : fmt::format("{} ({})", heartbeat_.activity(), state);
}

StallDetector::Observation Watchdog::sight() {
  const std::chrono::duration<Seconds> time = SteadyClock::now().time_since_epoch();
  return {heartbeat_.progress(), time_.after(time.count()), time_awake(), heartbeat_.longer_s()};
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    is_new_ = false;
    const Group* const known = company();
    const Seconds grace = known != nullptr ? known->watched.grace : 0;
    StallDetector detector(known != nullptr ? known->rank : rank_, timeout_, grace, sight());
    std::chrono::duration<Seconds> pause(StallDetector::interval(timeout_));
    while (!changed_.wait_for(lock, pause, [this] { return is_new_ || stopping_; })) {
      pause = std::chrono::duration<Seconds>(jitter_.shorten(look(detector)));
    }
  }
}

/// Returns the time until the next look.
Seconds Watchdog::look(StallDetector& detector) {
  const StallDetector::Observation seen = sight();
  if (group_) keep_in_touch(group_->table, group_->roll, seen.time);
  look_for_others(seen.time);
  const StallDetector::Stall stall = detector.look(seen);
  const bool ends = stall.action == StallDetector::Action::kEnd;
  if (ends || (stall.action == StallDetector::Action::kReport && seen.time >= next_report_)) {
    next_report_ = seen.time + StallDetector::interval(timeout_) / 2;
    report({heartbeat_.steps(), stall.stuck_s, activity(), stall.busy, is_idle(), deaf_for(seen.time)});
    if (Group* const known = company(); stack_ && known != nullptr && known->table.is_asked_for_stack()) print_stack();
  }
  if (ends) end_job(stall.stuck_s, findings());
  return time_to_next_look(stall, seen.time);
}

/// Who hears many must not let their datagrams pile up, least of all where a lost one would name the wrong rank.
Seconds Watchdog::time_to_next_look(const StallDetector::Stall& stall, Seconds now) const {
  constexpr Seconds kAtOnce = 0.002;
  const bool hears_many = (group_ && group_->rank == 0) || (world_ && world_->rank == 0);
  if (world_ && world_->roll.is_anxious(now)) return kAtOnce;
  if (hears_many && stall.action == StallDetector::Action::kReport) return kAtOnce;
  return hears_many || is_idle() ? StallDetector::interval(timeout_) : stall.next_look_s;
}

/// 0 on the first process.
Seconds Watchdog::deaf_for(Seconds now) const {
  const Group* const known = company();
  if (known == nullptr || known->rank == 0) return 0;
  const std::map<int, Seconds> silences = known->roll.silences(now);
  const auto first = silences.find(0);
  return first == silences.end() ? 0 : first->second;
}

void Watchdog::report(const ProcessReport& report) {
  if (Group* const known = company()) known->table.report(report);
}

/// Only at rest it matters who is gone: else the others of the group notice, and know more.
void Watchdog::look_for_others(Seconds now) {
  if (!world_) return;
  const bool is_due = keep_in_touch(world_->table, world_->roll, now);
  if (!is_idle()) return;
  if (is_due) report({heartbeat_.steps(), 0, heartbeat_.activity(), 1, true});  // or it would seem to be silent
  const std::vector<int> gone = world_->roll.gone(now);
  if (gone.empty()) return;
  std::vector<std::string> lines;
  lines.reserve(gone.size());
  for (const int rank : gone) {
    lines.push_back(fmt::format("{}: {}", rank == 0 ? world_->first : world_->names[static_cast<std::size_t>(rank)],
                                silent_text(rank, world_->roll.silences(now))));
  }
  end_job(patience(), shortened(std::move(lines), kMostNamed, "more"));
}

/// A line each.
std::vector<std::string> Watchdog::findings() {
  if (is_idle()) return {fmt::format("{}: {}, and stuck in this itself", name_, heartbeat_.activity())};
  if (const Group* const known = company()) {
    const std::map<int, Seconds> silences = known->roll.silences(sight().time);
    if (known->rank == 0) return who_is_missing(known->table.reports(), known->names, silences);
    return {fmt::format("{}: {}, and {} did not answer{}", known->watched.name, activity(), known->first,
                        silences.count(0) == 0 ? "" : fmt::format(" for {}", readable_seconds(silences.at(0))))};
  }
  return {fmt::format("{}: {}, {}", name_, activity(), guess_for(heartbeat_.phase()))};
}

void Watchdog::end_job(Seconds stuck, const std::vector<std::string>& findings) {
  limit_own_end();
  Group* const known = company();
  if (known != nullptr && known->rank == 0) known->table.tell_end();
  if (known != nullptr && known->table.is_ended())
    std::_Exit(static_cast<int>(ExitStatus::kTimeout));  // it has said why
  const Seconds longer = heartbeat_.longer_s();
  const std::string reason =
      fmt::format("no progress for {}, the limit is --timeout {:g}{}", readable_seconds(stuck), timeout_,
                  longer > 0 ? fmt::format(", and {} to connect", readable_seconds(longer)) : "");
  std::string text = fmt::format("fabricbench: {}; the job is ended\n", reason);
  for (const std::string& line : findings) text += fmt::format("fabricbench:   {}\n", line);
  fmt::print(stderr, "{}", text);
  std::fflush(stderr);
  const bool has_own = group_ && group_->watched.on_timeout;
  (has_own ? group_->watched.on_timeout : on_timeout_)(fmt::format("{}; {}", reason, fmt::join(findings, "; ")));
  if (stack_) print_stacks();
  std::_Exit(static_cast<int>(ExitStatus::kTimeout));
}

/// The first process knows whose stacks are worth reading, and leaves the others time to print theirs.
void Watchdog::print_stacks() {
  Group* const known = company();
  if (known == nullptr || known->rank != 0) return print_stack();
  const std::vector<int> asked = ranks_to_ask(known->table.reports());
  known->table.ask_for_stacks(asked);
  if (std::find(asked.begin(), asked.end(), 0) != asked.end()) print_stack();
  constexpr std::chrono::duration<Seconds> kToPrint(1.5);
  const std::chrono::duration<Seconds> until_they_look(StallDetector::interval(timeout_));
  if (!asked.empty() && asked.back() != 0) std::this_thread::sleep_for(until_they_look + kToPrint);
}

void Watchdog::print_stack() const {
  std::string text = fmt::format("fabricbench:   {}: its main thread is in\n", name_);
  for (const std::string& line : stack_->read()) text += fmt::format("fabricbench:     {}\n", line);
  fmt::print(stderr, "{}", text);
  std::fflush(stderr);
}

namespace {

std::array<char, 1024> exit_text;  // objects with destructors are gone by then
std::size_t exit_text_size = 0;

extern "C" void say_and_end(int /*signal*/) {
  const ssize_t written = write(STDERR_FILENO, exit_text.data(), exit_text_size);
  _exit(static_cast<int>(written < 0 ? ExitStatus::kFailure : ExitStatus::kTimeout));
}

}  // namespace

void limit_exit(Seconds time, const std::string& line) {
  alarm(0);
  exit_text_size = line.copy(exit_text.data(), exit_text.size());
  std::signal(SIGALRM, say_and_end);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(time);
  timer.it_value.tv_usec = static_cast<suseconds_t>(1e6 * (time - std::floor(time)));
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace fabricbench
