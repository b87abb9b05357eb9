#include "cluster/launch/children.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr int kNotStarted = 127;  // status of a child that could not become its program

sigset_t held_back() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGALRM, SIGTSTP, SIGCHLD}) {
    ::sigaddset(&set, signal);
  }
  return set;
}

std::string reason_of(int error) { return std::system_category().message(error); }

/// What texts are to execve. They have to live as long as this.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): exec changes nothing
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// This process's variables, and the settings in the place of those of the same name.
std::vector<std::string> environment_with(const std::vector<std::string>& settings) {
  std::map<std::string, std::string> texts;
  const auto add = [&](const std::string& text) { texts[text.substr(0, text.find('='))] = text; };
  for (char** variable = ::environ; *variable != nullptr; ++variable) add(*variable);
  std::for_each(settings.begin(), settings.end(), add);
  std::vector<std::string> all;
  all.reserve(texts.size());
  for (const auto& [name, text] : texts) all.push_back(text);
  return all;
}

/// In the child: becomes the program, or returns. Calls nothing that is forbidden beside other threads.
void become(std::vector<char*>& variables, const std::vector<char*>& words, const Streams& streams, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // a launcher that is killed by SIGKILL would leave its ranks behind
  if (::getppid() != parent) ::raise(SIGTERM);
  const int input = ::open("/dev/null", O_RDONLY);
  // First out of the way of each other: an output may be descriptor 2.
  const int output = ::fcntl(streams.output, F_DUPFD, 10);
  const int errors = ::fcntl(streams.errors, F_DUPFD, 10);
  ::dup2(input, 0);
  ::dup2(output, 1);
  ::dup2(errors, 2);
  for (const int descriptor : {input, output, errors}) {
    if (descriptor > 2) ::close(descriptor);
  }
  const sigset_t set = held_back();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::environ = variables.data();
  ::execvp(words.front(), words.data());
}

int as_shell(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

/// A child that has ended, and stays to be asked for its status; 0: there is none.
pid_t ended_child() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ? info.si_pid : 0;
}

int made_file(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    throw Error(ExitStatus::kFailure, fmt::format("cannot write {} ({})", path.string(), reason_of(errno)));
  }
  return descriptor;
}

}  // namespace

void Descriptor::reset(int number) noexcept {
  if (number_ >= 0) ::close(number_);
  number_ = number;
}

RunLock::RunLock(const fs::path& path, ExitStatus if_taken) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw Error(if_taken, fmt::format("{}: another run is at work on it; wait for its end, or end it", path.string()));
}

Pipe::Pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(ExitStatus::kFailure, fmt::format("cannot make a pipe ({})", reason_of(errno)));
  }
  read_end.reset(ends[0]);
  write_end.reset(ends[1]);
}

Signals::Signals() {
  const sigset_t set = held_back();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

Signals::~Signals() {
  const sigset_t set = held_back();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

std::optional<int> Signals::wait(milliseconds most) {
  const sigset_t set = held_back();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(most);
  const timespec time{seconds.count(), std::chrono::nanoseconds(most - seconds).count()};
  const int signal = ::sigtimedwait(&set, nullptr, &time);
  if (signal <= 0 || signal == SIGCHLD) return std::nullopt;
  return signal;
}

Child::Child(const Command& command, const Streams& streams) {
  const std::vector<char*> words = pointers_to(command.words);
  const std::vector<std::string> environment = environment_with(command.environment);
  std::vector<char*> variables = pointers_to(environment);
  Pipe problem;
  const pid_t parent = ::getpid();
  id_ = ::fork();
  if (id_ < 0) throw Error(ExitStatus::kFailure, fmt::format("cannot start a process ({})", reason_of(errno)));
  if (id_ == 0) {
    become(variables, words, streams, parent);
    const int error = errno;
    [[maybe_unused]] const auto written = ::write(problem.write_end.get(), &error, sizeof error);
    ::_exit(kNotStarted);
  }
  ::setpgid(id_, id_);  // also here, before it is told anything
  problem.write_end.reset();
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(problem.read_end.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof error)) {
    ::waitpid(std::exchange(id_, -1), nullptr, 0);
    throw Error(ExitStatus::kMissing, fmt::format("cannot run {} ({})", command.words.front(), reason_of(error)));
  }
}

Child::~Child() {
  if (id_ < 0 || status_) return;
  ::kill(id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

std::optional<int> Child::status() {
  int status = 0;
  if (!status_ && ::waitpid(id_, &status, WNOHANG) == id_) status_ = as_shell(status);
  return status_;
}

void Child::tell(int signal) const {
  if (!status_) ::kill(id_, signal);
}

void Child::tell_group(int signal) const {
  if (!status_) ::kill(-id_, signal);
}

void Jobs::start(const Command& command, const fs::path& output, const fs::path& errors, int limit_s,
                 std::function<void(const JobEnd&)> ended) {
  const Descriptor out(made_file(output));
  const Descriptor err(made_file(errors));
  const auto began = Clock::now();
  std::optional<Clock::time_point> deadline;
  if (limit_s > 0) deadline = began + std::chrono::seconds(limit_s);
  auto child = std::make_unique<Child>(command, Streams{out.get(), err.get()});
  const pid_t id = child->id();
  jobs_.insert_or_assign(id, Job{std::move(child), began, deadline, false, std::move(ended)});
}

void Jobs::look() {
  const auto now = Clock::now();
  while (const pid_t id = ended_child()) {
    const auto job = jobs_.extract(id);
    if (job.empty()) {
      ::waitpid(id, nullptr, 0);  // an orphan, where this is the first process of a container
      continue;
    }
    const Job& over = job.mapped();
    JobEnd end{over.child->status().value_or(0), seconds_since(over.began), is_ending_};
    if (over.told && end.status != kKilled) end.status = kTimedOut;
    over.ended(end);
  }
  for (auto& [id, job] : jobs_) {
    if (!job.deadline || now < *job.deadline) continue;
    job.child->tell_group(job.told ? SIGKILL : SIGTERM);
    job.deadline = now + std::chrono::seconds(kKillAfterSeconds);
    job.told = true;
  }
}

std::optional<int> Jobs::step(milliseconds most) {
  const std::size_t before = jobs_.size();
  look();
  if (jobs_.size() != before) return std::nullopt;
  for (const auto& [id, job] : jobs_) {
    if (job.deadline) {
      const auto left = std::chrono::duration_cast<milliseconds>(*job.deadline - Clock::now()) + milliseconds(1);
      most = std::min(most, std::max(left, milliseconds(0)));
    }
  }
  std::optional<int> told = told_ ? std::exchange(told_, std::nullopt) : signals_.wait(most);
  if (told == SIGTSTP) {  // Ctrl-Z; the jobs go on
    ::raise(SIGSTOP);
    told.reset();
  }
  look();
  return told;
}

void Jobs::end_all() {
  is_ending_ = true;
  for (auto& [id, job] : jobs_) job.deadline = Clock::now();
  while (!jobs_.empty()) {
    look();
    if (jobs_.empty()) break;
    if (const auto told = signals_.wait(milliseconds(50))) told_ = told;
  }
  is_ending_ = false;
}

Said said_by(const Command& command, int limit_s) {
  constexpr int kLookMs = 50;  // a grandchild may hold a pipe open
  constexpr std::chrono::seconds kToEnd{10};
  Said said;
  Pipe output;
  Pipe errors;
  std::optional<Child> child;
  try {
    child.emplace(command, Streams{output.write_end.get(), errors.write_end.get()});
  } catch (const Error&) {
    return {kNotStarted, "", ""};
  }
  output.write_end.reset();
  errors.write_end.reset();
  std::array<pollfd, 2> readable{pollfd{output.read_end.get(), POLLIN, 0}, pollfd{errors.read_end.get(), POLLIN, 0}};
  const std::array texts{&said.text, &said.errors};
  std::array<char, 4096> buffer{};
  auto deadline = Clock::now() + std::chrono::seconds(limit_s);
  bool told = false;
  while (true) {
    const bool has_ended = child->status().has_value();
    if (::poll(readable.data(), readable.size(), kLookMs) == 0 && has_ended) break;
    for (std::size_t stream = 0; stream < readable.size(); ++stream) {
      if ((readable[stream].revents & (POLLIN | POLLHUP)) == 0) continue;
      const ssize_t got = ::read(readable[stream].fd, buffer.data(), buffer.size());
      if (got > 0) texts[stream]->append(buffer.data(), static_cast<std::size_t>(got));
      if (got == 0) readable[stream].fd = -1;  // all has been said
    }
    if (Clock::now() < deadline) continue;
    child->tell_group(told ? SIGKILL : SIGTERM);
    if (told) break;
    told = true;
    deadline = Clock::now() + kToEnd;
  }
  said.status = told ? kTimedOut : *child->status();
  return said;
}

fs::path temporary_folder() {
  const std::string_view given = variable("TMPDIR");
  return given.empty() ? "/tmp" : given;
}

WorkFolder::WorkFolder(const std::string& name) {
  const fs::path below = temporary_folder();
  std::string pattern = (below / fmt::format("fabricbench-{}.XXXXXX", name)).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error(ExitStatus::kFailure,
                fmt::format("cannot write in {} ({}); set TMPDIR to a folder that you can write in", below.string(),
                            reason_of(errno)));
  }
  path_ = pattern;
}

WorkFolder::~WorkFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace fabricbench::cluster
