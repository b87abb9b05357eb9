#include "cluster/command/sweep.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/input_file.h"
#include "cluster/command/pair_readings.h"
#include "cluster/launch/job_output.h"
#include "cluster/launch/launcher.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"
#include "common/record/json.h"
#include "common/record/read.h"

namespace fabricbench::cluster {
namespace {

/// What a sweep that is continued takes from its first line.
struct FirstLine {
  std::vector<std::string> hosts;
  std::string plan;
  std::string seed;
};

template <typename Visitor, record::Of<FirstLine> Record>
void describe(Visitor& visitor, Record& line) {
  visitor("hosts", line.hosts, "");
  visitor("plan", line.plan, "");
  visitor("seed", line.seed, "");
}

/// Calls `take` for every line that is a record, until it returns false.
void for_each_line(const std::string& path,
                   const std::function<bool(std::string_view line, std::string_view kind, record::LineReader&)>& take) {
  LineSource lines(path, record::LineReader::kSpare);
  record::LineReader reader;
  Line line;
  while (lines.next(line)) {
    try {
      const std::string kind(reader.open(line.text, line.capacity));
      if (!kind.empty() && !take(line.text, kind, reader)) return;
    } catch (const std::invalid_argument&) {
      continue;
    }
  }
}

/// Lines of the hosts' leaves, from a file of lines `HOST LEAF`.
std::string lines_of_leaves(const std::string& path, const std::vector<std::string>& hosts, std::string_view name) {
  const std::string text = text_of_file(path, "--locality");
  const std::set<std::string> known(hosts.begin(), hosts.end());
  std::map<std::string, std::string> leaves;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::vector<std::string> words = split_words(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    if (words.size() != 2) {
      throw Error(ExitStatus::kFailure,
                  fmt::format("{}, line {}: '{}' is not a host and its leaf", path, number, cleaned_line(line)));
    }
    if (known.contains(words[0])) leaves[words[0]] = words[1];
  }
  if (leaves.size() < known.size()) {
    fmt::print(stderr, "{}: {} has no leaf for {} of the {} hosts\n", name, path, known.size() - leaves.size(),
               known.size());
  }
  std::string lines;
  for (const auto& [host, leaf] : leaves) lines += record::json_line(record::to_json(HostLocality{host, leaf}));
  return lines;
}

}  // namespace

SweepFile::SweepFile(std::string path, const std::vector<std::string>& hosts, const SweepStartSettings& settings,
                     const std::string& locality, std::string_view name)
    : path_(std::move(path)),
      hosts_(hosts),
      plan_(fmt::format("{}", fmt::join(settings.plan, " "))),
      seed_(settings.seed) {
  SweepStart start;
  start.hosts = hosts;
  start.began = utc_now();
  start.how = settings.how;
  record::Json first = record::to_json(start);
  first["plan"] = plan_;
  first["seed"] = seed_;
  first["rails"] = fmt::format("{}", fmt::join(settings.rails, ","));
  std::string lines = record::json_line(first);
  if (!locality.empty()) lines += lines_of_leaves(locality, hosts, name);
  append_to_file(path_, lines);
  lock_.emplace(path_, ExitStatus::kUsage);
}

SweepFile::SweepFile(std::string path) : path_(std::move(path)) {
  lock_.emplace(path_, ExitStatus::kUsage);
  bool is_of_a_sweep = false;
  for_each_line(path_, [&](std::string_view, std::string_view kind, record::LineReader& reader) {
    if (kind != "sweep") return true;
    const auto first = reader.read<FirstLine>();
    hosts_ = first.hosts;
    plan_ = first.plan;
    seed_ = first.seed;
    is_of_a_sweep = true;
    return false;
  });
  if (!is_of_a_sweep) {
    throw UsageError(fmt::format("{} has no line of kind `sweep`, so sweep_pairs.sh did not write it", path_));
  }
  for (const std::string& host : hosts_) {
    const std::string shown = record::Json(host).dump(-1, ' ', false, record::Json::error_handler_t::replace);
    if (!fault_of_host_name(host).empty()) throw UsageError(fmt::format("{}: {:.80} is no host", path_, shown));
  }
  if (std::set<std::string>(hosts_.begin(), hosts_.end()).size() < std::max(hosts_.size(), std::size_t{2})) {
    throw UsageError(fmt::format("{}: it does not name 2 hosts, each once", path_));
  }
}

void SweepFile::for_each_reading(const std::function<void(const RecordedReading&)>& take) const {
  for_each_line(path_, [&](std::string_view, std::string_view kind, record::LineReader& reader) {
    if (kind == "reading") take(reader.read<RecordedReading>());
    return true;
  });
}

std::int64_t SweepFile::last_round() const {
  std::int64_t last = -1;
  for_each_reading([&](const RecordedReading& reading) { last = std::max(last, reading.round.value_or(-1)); });
  return last;
}

std::string SweepFile::counts_of(std::int64_t round) const {
  std::vector<std::pair<ReadingStatus, std::int64_t>> counts;
  for_each_reading([&](const RecordedReading& reading) {
    if (reading.round != round || !reading.status) return;
    auto known = std::find_if(counts.begin(), counts.end(), [&](auto& each) { return each.first == *reading.status; });
    if (known == counts.end()) known = counts.insert(counts.end(), {*reading.status, 0});
    ++known->second;
  });
  std::stable_sort(counts.begin(), counts.end(), [](auto& a, auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [status, count] : counts) {
    std::string word(name(status));
    std::replace(word.begin(), word.end(), '_', ' ');
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  }
  return text.empty() ? "nothing" : text;
}

std::string SweepFile::only_failures() const {
  std::map<std::string, std::int64_t> reasons;
  std::int64_t all = 0;
  bool any_figure = false;
  for_each_reading([&](const RecordedReading& reading) {
    any_figure = any_figure || reading.bandwidth.has_value();
    ++reasons[std::string(reading.reason)];
    ++all;
  });
  if (any_figure || all == 0) return "";
  const auto most =
      std::max_element(reasons.begin(), reasons.end(), [](auto& a, auto& b) { return a.second < b.second; });
  return fmt::format("{} of {} readings say: {}", most->second, all, most->first);
}

void SweepFile::write_rail(const std::string& rail, const std::string& path) const {
  std::ofstream file(path);
  for_each_line(path_, [&](std::string_view line, std::string_view kind, record::LineReader& reader) {
    if (kind != "reading" || reader.read<RecordedReading>().from_end.rail == rail) file << line << '\n';
    return true;
  });
}

}  // namespace fabricbench::cluster
