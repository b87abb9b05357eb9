#include "cluster/acceptance/run_folder.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cluster/launch/job_output.h"
#include "cluster/run/file.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"
#include "common/host/files.h"
#include "common/record/baseline.h"
#include "common/record/read.h"

namespace fabricbench::acceptance {
namespace {

namespace fs = std::filesystem;
using record::Json;

constexpr std::size_t kLongestWord = 80;    // of a damaged line, in a message
constexpr std::size_t kLongestName = 1000;  // of a file or a step, which regular expressions take

std::string cut(const std::string& text) { return text.substr(0, kLongestWord); }

[[noreturn]] void refuse(const std::string& problem) { throw std::invalid_argument(problem); }

/// Throws where a line is no JSON, or deeper than any record.
Json json_of(std::string_view line) {
  constexpr int kDeepest = 64;
  return Json::parse(line, [](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepest) refuse("nested too deeply");
    return true;
  });
}

/// The record in a line; names the first key whose value is of another type.
template <typename Record>
Record record_of(const Json& line, std::string_view kind) {
  record::LineReader reader;
  const auto read = [&](const Json& part) {
    reader.open(part.dump());
    return reader.read<Record>();
  };
  try {
    return read(line);
  } catch (const std::invalid_argument&) {
    for (const auto& [key, value] : line.items()) {
      try {
        static_cast<void>(read(Json{{key, value}}));
      } catch (const std::invalid_argument&) {
        refuse(fmt::format("{}: '{}' cannot be {}", kind, key, cut(value.dump())));
      }
    }
    throw;
  }
}

void need(const Json& line, std::initializer_list<const char*> keys) {
  for (const char* const key : keys) {
    if (line.contains(key) && !line[key].is_null()) continue;
    std::string all;
    for (const char* const each : keys) all += fmt::format("{}{}", all.empty() ? "" : " or ", each);
    refuse(fmt::format("it lacks {}", all));
  }
}

void check_hosts(const std::vector<std::string>& hosts, std::size_t fewest) {
  for (const std::string& host : hosts) {
    if (!fault_of_host_name(host).empty()) refuse(fmt::format("{} is no host", cut(Json(host).dump())));
  }
  const std::unordered_set<std::string> once(hosts.begin(), hosts.end());
  if (once.size() < std::max(fewest, hosts.size())) {
    refuse(fmt::format("it does not name {} host{}, each once", fewest, fewest == 1 ? "" : "s"));
  }
}

bool is_whole(const std::string& text, const char* pattern) {
  return text.size() < kLongestName && std::regex_match(text, std::regex(pattern));
}

/// Whether a step of this stage may be called so, whatever hosts the name tells.
bool is_name_of(std::string_view stage, const std::string& name) {
  if (stage == "hosts") return name.starts_with("hosts/") && name.size() > std::strlen("hosts/");
  if (stage == "pairs") return name == "pairs" || (name.starts_with("pairs/") && name.size() > std::strlen("pairs/"));
  return stage == "collectives" && is_whole(name, "collectives/[a-z_]+_perf-[0-9]+");
}

void check_devices(const Context& context, std::string_view whose) {
  for (const HostFacts& host : context.host_facts) {
    for (const host::NetworkDevice& device : host.network_devices) {
      if (!device.name.empty()) continue;
      throw Error(
          ExitStatus::kFailure,
          fmt::format("{} has a record of another shape than its kind has: a network device of {} without a name",
                      whose, host.name));
    }
  }
}

}  // namespace

Outcome outcome_of_status(int status) {
  switch (static_cast<ExitStatus>(status)) {
    case ExitStatus::kOk: return Outcome::kAccepted;
    case ExitStatus::kTooSlow: return Outcome::kSlow;
    case ExitStatus::kNotJudged: return Outcome::kNotJudged;
    default: return Outcome::kFailed;
  }
}

JobRecords records_in(std::string_view text, std::string_view whose) {
  JobRecords found;
  cluster::for_each_record(text, [&](const std::string& kind, record::LineReader& reader) {
    found.any = true;
    if (kind == "context" && !found.context) found.context = reader.read<Context>();
    if (kind == "row") found.rows.push_back(reader.read<Row>());
    if (kind == "end") found.end = reader.read<Ending>();
    if (kind == "baseline_comparison") {
      const auto read = reader.read<baseline::BaselineComparison>();
      found.comparison = {outcome_of_status(read.exit_status), cluster::cleaned_line(read.headline)};
    }
  });
  if (found.context) check_devices(*found.context, whose);
  return found;
}

std::vector<std::string> hosts_in_name(const std::string& name) {
  std::vector<std::string> hosts;
  for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find(',', at + 1)) {
    hosts.push_back(name.substr(at + 1, name.find(',', at + 1) - at - 1));
  }
  return hosts;
}

std::string file_name(std::string_view host) {
  std::string name(host);
  for (char& letter : name) {
    const bool may_be = (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
                        (letter >= 'a' && letter <= 'z') || letter == '.' || letter == '-';
    if (!may_be) letter = '_';
  }
  name.erase(0, name.find_first_not_of(".-"));
  return name.empty() ? "host" : name;
}

void RunFolder::begin(const fs::path& path, const AcceptanceStart& start) {
  for (const char* const part : {"hosts", "collectives"}) {
    std::error_code error;
    if (fs::create_directories(path / part, error); !error) continue;
    throw UsageError(fmt::format("the folder '{}' cannot be made ({}); name another one with --output", path.string(),
                                 error.message()));
  }
  baseline::replace_file((path / kStateFile).string(), record::json_line(record::to_json(start)));
}

void RunFolder::check(const fs::path& path) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    const fs::file_status status = entry.symlink_status();
    if (fs::is_regular_file(status) || fs::is_directory(status)) continue;
    throw Error(ExitStatus::kFailure,
                fmt::format("{} is neither a file nor a folder, and accept.sh made nothing else; remove it",
                            entry.path().string()));
  }
}

void RunFolder::repair(const fs::path& path) {
  const std::string text = host::read_text(path / kStateFile).value_or("");
  if (!text.empty() && text.back() != '\n') fs::resize_file(path / kStateFile, text.rfind('\n') + 1);
}

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {
  const std::string file = (path_ / kStateFile).string();
  const std::string text = host::read_text(file).value_or("");
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    begin = end == std::string::npos ? text.size() : end + 1;
    try {
      if (line.find_first_not_of(" \t\r") != std::string::npos) take(line);
    } catch (const std::exception& problem) {
      if (end == std::string::npos) continue;  // the writer was killed
      throw Error(ExitStatus::kFailure,
                  fmt::format("{}, line {}: not a record of an acceptance run: {}", file, number + 1, problem.what()));
    }
  }
  if (start_.hosts.empty()) {
    throw Error(ExitStatus::kFailure,
                fmt::format("{}: no line of kind `acceptance`, so accept.sh did not write it", file));
  }
}

void RunFolder::take(std::string_view text) {
  const Json line = json_of(text);
  if (!line.is_object() || !line.contains("kind")) refuse(fmt::format("not a record: {:.80}", text));
  const std::string kind = line["kind"].is_string() ? std::string(line["kind"]) : "";
  if (kind == "acceptance") {
    take_start(line);
  } else if (kind == "acceptance_step") {
    check_step(line);
    keep(record_of<AcceptanceStep>(line, kind));
  } else if (kind == "acceptance_verdict") {
    static_cast<void>(record_of<AcceptanceVerdict>(line, kind));
    need(line, {"headline"});
  } else {
    refuse("it lacks a kind of such");
  }
}

void RunFolder::take_start(const Json& line) {
  auto start = record_of<AcceptanceStart>(line, "acceptance");
  need(line, {"hosts", "held_against", "command"});
  const Json version = line.value("schema_version", Json());
  if (version != kSchemaVersion) {
    refuse(fmt::format("its schema_version is {}, not {} of this program; go on with that which began",
                       version.is_null() ? "None" : cut(version.dump()), kSchemaVersion));
  }
  check_hosts(start.hosts, 2);
  if (!start_.hosts.empty()) return;
  start_ = std::move(start);
  known_.insert(start_.hosts.begin(), start_.hosts.end());
}

/// Throws unless it names no other host or file than a run does.
void RunFolder::check_step(const Json& line) const {
  need(line, {"name", "stage", "hosts", "outcome", "seconds"});
  const std::string name = line["name"];
  const std::string stage = line["stage"];
  const std::string outcome = line["outcome"];
  const std::vector<std::string> hosts = line["hosts"];
  check_hosts(hosts, 1);
  const std::vector<std::string> about = stage == "collectives" ? std::vector<std::string>() : hosts_in_name(name);
  const auto is_known = [&](const std::string& host) { return known_.contains(host); };
  if (!is_name_of(stage, name) || !std::all_of(hosts.begin(), hosts.end(), is_known) ||
      !std::all_of(about.begin(), about.end(), is_known)) {
    refuse(fmt::format("{} is no step of the hosts of this run", cut(name)));
  }
  if (stage == "hosts" && hosts != about) refuse(fmt::format("{} is about other hosts", cut(name)));
  if (!named<Outcome>(outcome) || line["seconds"] < 0) {
    refuse(fmt::format("its outcome is {} after {} s", cut(outcome), cut(line["seconds"].dump())));
  }
  const Json records = line.value("records", Json());
  if (records.is_null()) return;
  if (!is_whole(records, "(hosts/[A-Za-z0-9_][A-Za-z0-9._@-]*|collectives/[a-z0-9_-]+|pairs(-[0-9]+)?)\\.jsonl")) {
    refuse(fmt::format("'{}' is no file of records of this folder", cut(records)));
  }
}

void RunFolder::keep(AcceptanceStep step) {
  const auto known = places_.find(step.name);
  if (known != places_.end()) {
    *known->second = std::move(step);
    steps_.splice(steps_.end(), steps_, known->second);
    return;
  }
  steps_.push_back(std::move(step));
  places_[steps_.back().name] = std::prev(steps_.end());
}

const AcceptanceStep* RunFolder::find(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &*found->second;
}

const AcceptanceStep* RunFolder::measured(const std::string& name) const {
  const AcceptanceStep* const step = find(name);
  return step != nullptr && step->outcome == Outcome::kNotMeasured ? nullptr : step;
}

std::vector<const AcceptanceStep*> RunFolder::of_stage(Stage stage) const {
  std::vector<const AcceptanceStep*> found;
  if (stage == Stage::kHosts) {
    for (const std::string& host : hosts()) found.push_back(find("hosts/" + host));
    std::erase(found, nullptr);
    return found;
  }
  for (const AcceptanceStep& step : steps_) {
    if (step.stage == stage) found.push_back(&step);
  }
  return found;
}

void RunFolder::append(const std::string& line) const {
  std::ofstream file(path_ / kStateFile, std::ios::app);
  file << line;
  if (!file.flush()) {
    throw Error(ExitStatus::kFailure, fmt::format("cannot write {}; check its permissions and the free space",
                                                  (path_ / kStateFile).string()));
  }
}

void RunFolder::add(AcceptanceStep step) {
  append(record::json_line(record::to_json(step)));
  keep(std::move(step));
}

void RunFolder::add(const AcceptanceVerdict& verdict) { append(record::json_line(record::to_json(verdict))); }

std::string RunFolder::text_of(const AcceptanceStep& step) const {
  return step.records.empty() ? "" : host::read_text(path_ / step.records).value_or("");
}

JobRecords RunFolder::records_of(const AcceptanceStep& step) const { return records_in(text_of(step), path_.string()); }

void RunFolder::replace(const fs::path& name, const std::string& text) const {
  fs::create_directories((path_ / name).parent_path());
  baseline::replace_file((path_ / name).string(), text);
}

}  // namespace fabricbench::acceptance
