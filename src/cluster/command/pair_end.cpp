// What is left of a job over a pair of hosts: records, a log if it failed, and a line.

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/pair_readings.h"
#include "cluster/launch/children.h"
#include "cluster/launch/job_output.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"
#include "common/core/units.h"
#include "common/core/wording.h"
#include "common/host/files.h"
#include "common/record/json.h"
#include "common/report/output_file.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;

/// Worst first: the worst reading decides the job's status.
struct StatusOfJob {
  ReadingStatus reading;
  ExitStatus job;
};
constexpr auto kWorstFirst = std::to_array<StatusOfJob>({{ReadingStatus::kWrong, ExitStatus::kWrongData},
                                                         {ReadingStatus::kTimeout, ExitStatus::kTimeout},
                                                         {ReadingStatus::kFailed, ExitStatus::kFailure},
                                                         {ReadingStatus::kNotTried, ExitStatus::kFailure},
                                                         {ReadingStatus::kSlow, ExitStatus::kTooSlow},
                                                         {ReadingStatus::kOk, ExitStatus::kOk}});

StatusOfJob worst_of(const std::vector<PairFigure>& figures) {
  return *std::find_if(kWorstFirst.begin(), kWorstFirst.end() - 1, [&](const StatusOfJob& each) {
    return std::any_of(figures.begin(), figures.end(), [&](const auto& one) { return one.status == each.reading; });
  });
}

std::string reason_of_system(int error = errno) { return error == 0 ? "" : std::system_category().message(error); }

/// What follows the last line end of a file; empty also where that is out of sight.
std::string last_line_of(int file, off_t size) {
  constexpr off_t kMost = 1 << 20;  // more than any record has
  std::string text(static_cast<std::size_t>(std::min(size, kMost)), ' ');
  const ssize_t got = ::pread(file, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text.substr(text.rfind('\n') + 1);
}

/// A writer that was killed, or had no room, has left half a record, to which the next one would be glued. Returns what
/// has to precede that.
std::string mend_end(int file, const std::string& path) {
  constexpr std::string_view kBegin = R"({"kind":)";
  struct stat facts {};
  if (::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) return "";
  const std::string last = last_line_of(file, facts.st_size);
  if (last.empty()) return "";
  const bool is_record = last.starts_with(kBegin) || kBegin.starts_with(last);
  const bool is_half = is_record && !record::Json::accept(last);
  const bool is_removed = is_half && ::ftruncate(file, facts.st_size - static_cast<off_t>(last.size())) == 0;
  fmt::print(stderr, "fabricbench: {}: the last line had no end; it is {}\n", path,
             is_removed ? "half a record and removed" : "ended");
  return is_removed ? "" : "\n";
}

std::string own_logs() {
  const passwd* const user = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe)
  const std::string name = user != nullptr ? user->pw_name : std::to_string(::geteuid());
  return fmt::format("{}/fabricbench-logs-{}", temporary_folder().string(), name);
}

std::string name_of_log(const PairJob& job) {
  constexpr std::size_t kLongest = 150;
  std::string names = fmt::format("{}-{}{}{}", job.hosts[0], job.hosts[1], job.rail.empty() ? "" : "-", job.rail);
  for (char& letter : names) {
    const bool is_plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                          (letter >= '0' && letter <= '9') ||
                          std::string_view("_.@-").find(letter) != std::string::npos;
    if (!is_plain) letter = '_';
  }
  return fmt::format("{}.round{}.{:%Y%m%dT%H%M%S}.{}.log", names.substr(0, kLongest), job.round,
                     fmt::gmtime(std::time(nullptr)), ::getpid());
}

/// Writes a file that was not there before in a folder, which is made. Without --logs, nobody else may have access to
/// the folder: where all may write, somebody else can have made it, or a link in its place. Empty, or what is wrong.
std::string write_log(const std::string& folder, bool is_private, const std::string& name, const std::string& text) {
  std::error_code error;
  fs::create_directories(fs::path(folder).parent_path(), error);
  ::mkdir(folder.c_str(), 0700);
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | (is_private ? O_NOFOLLOW : 0)));
  struct stat found {};
  if (opened.get() < 0 || ::fstat(opened.get(), &found) != 0) {
    return fmt::format("{}: {}", folder, reason_of_system());
  }
  if (is_private && (found.st_uid != ::geteuid() || (found.st_mode & 077U) != 0)) {
    return fmt::format("{} belongs to somebody else, or others have access to it; remove it, or give --logs DIR",
                       folder);
  }
  const Descriptor file(
      ::openat(opened.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  const std::string problem = file.get() < 0 ? reason_of_system() : reason_of_system(host::write_all(file.get(), text));
  return problem.empty() ? "" : fmt::format("{}/{}: {}", folder, name, problem);
}

/// Keeps the job's output. Returns the file's path; empty if that fails, which is not an error of the pair.
std::string keep_log(const PairSettings& settings, const PairJob& job, const JobEnd& end, const PairOutput& output) {
  const std::string folder = settings.logs.empty() ? own_logs() : settings.logs;
  const std::string name = name_of_log(job);
  const std::string text = fmt::format(
      "# {} {} of {} and {}: exit status {} after {:.0f} s\n# standard error:\n{}\n"
      "# standard output:\n{}\n",
      settings.test, settings.size, job.hosts[0], job.hosts[1], end.status, end.seconds, output.err, output.out);
  const std::string problem = write_log(folder, settings.logs.empty(), name, as_utf8(text));
  if (problem.empty()) return fs::absolute(fs::path(folder) / name).lexically_normal().string();
  fmt::print(stderr, "check_node_pair: no log is kept: {}\n", problem);
  return "";
}

/// The bytes of a size such as 64K; none if it is malformed, which the benchmark says.
std::optional<std::int64_t> bytes_of(const std::string& size) {
  try {
    return static_cast<std::int64_t>(parse_bytes(size));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string record_of(const PairFigure& figure, const PairSettings& settings, const PairJob& job, double seconds,
                      const std::string& log) {
  const auto& [sender, receiver, rail, both_ways] = figure.direction;
  const auto end_of = [&job, &rail = rail](int host, const DevicesOfEnd& devices) {
    ReadingEnd end;
    end.host = job.hosts[static_cast<std::size_t>(host)];
    end.rail = rail;
    end.nic = devices.nic;
    end.nic_guid = devices.nic_guid;
    end.gpu = devices.gpu;
    end.gpu_uuid = devices.gpu_uuid;
    end.port_rate = devices.port_rate;
    return end;
  };
  const std::string finished = utc_now();
  RecordedReading reading;
  reading.round = job.round;
  reading.concurrent = job.concurrent;
  reading.from_end = end_of(sender, figure.devices[0]);
  reading.to_end = end_of(receiver, figure.devices[1]);
  reading.test = settings.test;
  reading.size = figure.size ? figure.size : bytes_of(settings.size);
  reading.status = figure.status;
  reading.both_ways = both_ways;
  reading.bandwidth = figure.bandwidth;
  reading.latency = figure.latency;
  reading.processor_wait = figure.waited;
  reading.reason = figure.reason;
  if (figure.status != ReadingStatus::kOk) reading.log = log;
  reading.finished = finished;
  reading.seconds = std::max(static_cast<std::int64_t>(seconds), std::int64_t{1});
  return record::json_line(record::to_json(reading));
}

std::string in_words(const PairFigure& figure) {
  const std::string rail = figure.direction.rail.empty() ? "" : figure.direction.rail + ": ";
  if (!figure.bandwidth) return rail + "no figure";
  const char* const way = figure.direction.both_ways ? "both ways" : figure.direction.sender == 0 ? "there" : "back";
  return fmt::format("{}{:.4g} GB/s {}", rail, *figure.bandwidth / 1e9, way);
}

void tell(const std::vector<PairFigure>& figures, ReadingStatus worst, const PairSettings& settings, const PairJob& job,
          const std::string& log) {
  // In a sweep, what a job for several rails could not measure is news, rather than its figures.
  const bool wants_lacking = settings.quiet && shares_job(settings, job);
  std::vector<std::string> parts = {std::string(name(worst))};
  for (const PairFigure& figure : figures) {
    if (figure.bandwidth.has_value() == wants_lacking) continue;
    const std::string words = in_words(figure);
    if (std::find(parts.begin(), parts.end(), words) == parts.end()) parts.push_back(words);
  }
  std::string line = fmt::format("{} {}: {}", job.hosts[0], job.hosts[1], fmt::join(parts, ", "));
  for (const PairFigure& figure : figures) {
    if (figure.status != worst || figure.reason.empty()) continue;
    line += "; " + figure.reason;
    break;
  }
  OutputFile::standard_output().write(fmt::format("{}{}{}\n", line, log.empty() ? "" : "; see ", log));
}

/// The status of a job whose ranks waited for a processor: what is required of it cannot be judged.
ExitStatus status_if_busy(ExitStatus status, const std::vector<PairFigure>& figures, const PairSettings& settings,
                          const PairJob& job, int status_of_job) {
  double waited = 0;
  for (const PairFigure& figure : figures) waited = std::max(waited, figure.waited);
  const bool is_required = settings.least || status_of_job == static_cast<int>(ExitStatus::kNotJudged);
  if (status != ExitStatus::kOk || waited <= 0 || !is_required) return status;
  fmt::print(stderr, "{} {}: {}\n", job.hosts[0], job.hosts[1], waited_text(waited));
  return ExitStatus::kNotJudged;
}

}  // namespace

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

void append_to_file(const std::string& path, std::string_view lines) {
  std::error_code error;
  const int access = fs::is_regular_file(path, error) ? O_RDWR : O_WRONLY;
  const Descriptor file(::open(path.c_str(), access | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  while (file.get() >= 0 && ::fcntl(file.get(), F_SETLKW, &lock) != 0 && errno == EINTR) {
  }
  const std::string problem =
      file.get() < 0 ? reason_of_system()
                     : reason_of_system(host::write_all(file.get(), mend_end(file.get(), path).append(lines)));
  if (!problem.empty()) throw Error(ExitStatus::kFailure, fmt::format("cannot write '{}': {}", path, problem));
}

PairEnd finish_pair(const PairSettings& settings, const PairJob& job, const JobEnd& end, const fs::path& folder) {
  const PairOutput output{host::read_text(folder / "out").value_or(""), host::read_text(folder / "err").value_or("")};
  if (end.status == static_cast<int>(ExitStatus::kUsage) && !has_record(output.out, "row")) {
    const std::array<std::string_view, 2> texts = {output.err, output.out};
    fmt::print(stderr, "{}\n", first_complaint(settings.test, texts));
    return {ExitStatus::kUsage, {}};
  }
  const std::vector<PairFigure> figures = judge_pair(settings, job, end.status, output);
  const StatusOfJob worst = worst_of(figures);
  PairEnd result{status_if_busy(worst.job, figures, settings, job, end.status), {}};
  const bool is_ok = worst.reading == ReadingStatus::kOk;
  const std::string log = is_ok ? "" : keep_log(settings, job, end, output);
  std::string lines;
  for (const PairFigure& figure : figures) {
    const std::string& rail = figure.direction.rail;
    const bool is_kept = figure.bandwidth || !shares_job(settings, job);
    if (is_kept) lines += record_of(figure, settings, job, end.seconds, log);
    const bool is_known =
        std::find(result.unmeasured.begin(), result.unmeasured.end(), rail) != result.unmeasured.end();
    if (!is_kept && !is_known) result.unmeasured.push_back(rail);
  }
  if (!settings.records.empty()) append_to_file(settings.records, lines);
  if (!is_ok || !settings.quiet) tell(figures, worst.reading, settings, job, log);
  return result;
}

}  // namespace fabricbench::cluster
