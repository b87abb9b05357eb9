#include "cluster/command/imported_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cluster/command/input_file.h"
#include "cluster/import/logs.h"
#include "cluster/import/pair_name.h"
#include "cluster/import/text.h"
#include "common/core/error.h"
#include "common/core/units.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNotices = 40;
constexpr std::uintmax_t kMostToHint = std::uintmax_t{64} << 20;  // bytes

struct Path {
  std::string name;
  bool of_folder = false;  ///< found in a folder, not named by the user
};

/// The number of a job that GNU parallel's --results puts beside its output.
bool is_of_parallel(const fs::path& file) {
  return file.filename() == "seq" && fs::exists(file.parent_path() / "stdout");
}

/// The files in a folder, without hidden ones.
std::vector<Path> files_of(const std::string& path) {
  std::error_code problem;
  if (path == "-" || !fs::is_directory(path, problem)) return {{path, false}};
  std::vector<Path> files;
  for (auto entry = fs::recursive_directory_iterator(path, problem); !problem && entry != fs::end(entry);
       entry.increment(problem)) {
    if (entry->path().filename().string().starts_with('.')) {
      entry.disable_recursion_pending();
    } else if (!entry->is_directory(problem) && !is_of_parallel(entry->path())) {
      files.push_back({entry->path().string(), true});
    }
  }
  if (problem) {
    throw Error(ExitStatus::kMissing,
                fmt::format("cannot read '{}': {}; check the path and its permissions", path, problem.message()));
  }
  return files;
}

bool is_binary(std::string_view text) { return text.find('\0') != std::string_view::npos; }
bool is_of_records(std::string_view text) { return trimmed(text).starts_with("{\"kind\""); }

/// Two hosts, in the order of a file's name, or the sender first; by short names.
using Way = std::pair<std::string, std::string>;

/// A file without a usable result.
struct Unread {
  Path path;
  std::string why;
  bool should_have_results = false;  ///< its text is a tool's
};

/// What a file's name tells.
std::optional<Way> way_named_by(const std::string& path) {
  const auto pair = pair_in_name(path);
  return pair ? std::optional<Way>(std::in_place, short_name(pair->from), short_name(pair->to)) : std::nullopt;
}

/// The ways with a result: that in the file's name, whatever else the file knows, or else those of its readings.
std::set<Way> ways_of(const ImportedFiles::File& file) {
  const Imported& found = file.found;
  const auto named = way_named_by(file.name);
  const auto name = [&](std::int32_t host) {
    return std::string(short_name(found.hosts.names()[static_cast<std::size_t>(host)]));
  };
  std::set<Way> ways;
  for (const Reading& reading : found.readings) {
    if (reading.outcome == Outcome::kFailed) continue;
    ways.insert(named.value_or(Way(name(reading.from), name(reading.to))));
    if (reading.both_ways && !named) ways.emplace(name(reading.to), name(reading.from));
  }
  return ways;
}

class Importer {
 public:
  explicit Importer(const ImportRequest& request) : request_(request) {}

  ImportedFiles import(const std::vector<std::string>& paths) {
    std::vector<Path> files;
    for (const std::string& path : paths) {
      for (Path& file : files_of(path)) files.push_back(std::move(file));
    }
    std::stable_sort(files.begin(), files.end(), [](const Path& a, const Path& b) { return a.name < b.name; });
    for (const Path& file : files) read(file);
    read_unrecognised();
    drop_what_clients_know();
    tell_of_unread();
    tell_of_other_sizes();
    finish_notices();
    if (all_.files.empty() && all_.records.empty()) refuse_all();
    return std::move(all_);
  }

 private:
  void read(const Path& path);
  [[nodiscard]] bool is_copy(const Path& path, std::string_view text);
  void read_as(ImportKind kind, const Path& path, std::string_view text);
  void keep(ImportKind kind, const Path& path, Imported found);
  void read_unrecognised();
  void drop_what_clients_know();
  void tell_of_unread();
  void tell_of_other_sizes();
  void finish_notices();
  [[nodiscard]] std::set<Way> known_ways() const;
  [[nodiscard]] std::set<std::string, std::less<>> known_hosts() const;
  [[noreturn]] void refuse_all() const;
  [[noreturn]] static void refuse_kind(const Path& path, ImportKind recognised, ImportKind asked);

  ImportRequest request_;
  std::set<std::pair<std::size_t, std::string>> texts_;  // by the pair and its rails that the file's name tells
  ImportedFiles all_;
  std::vector<Path> unrecognised_;
  std::vector<Unread> unread_;
};

/// Whether the file has been read before, or a copy of it. Two pairs may well have the same text, and two rails of one.
bool Importer::is_copy(const Path& path, std::string_view text) {
  const auto pair = pair_in_name(path.name);
  const PairRails rails = rails_in_name(path.name);
  const std::string ends = pair ? fmt::format("{} {} {} {}", pair->from, pair->to, rails.from, rails.to) : "";
  return !texts_.emplace(std::hash<std::string_view>{}(text), ends).second;
}

void Importer::read(const Path& path) {
  std::error_code problem;
  if (path.of_folder && !fs::is_regular_file(path.name, problem)) {
    return unread_.push_back({path, "it is no regular file"});
  }
  if (path.of_folder && fs::file_size(path.name, problem) > kMostText) {
    return unread_.push_back({path, "it is too large for a log"});
  }
  const std::string text = text_of_file(path.name, "");
  if (!text.empty() && is_copy(path, text)) {
    all_.notices.push_back(
        fmt::format("{}: left out: it is there twice, as a file or as a copy", readable_name(path.name)));
    return;
  }
  if (is_binary(text)) return unread_.push_back({path, "it is not a text file"});
  if (is_of_records(text)) {
    if (!request_.kind) return all_.records.push_back(path.name);
    return unread_.push_back({path, "it is a file of records, which is read without --import"});
  }
  const std::vector<ImportKind> kinds = kinds_in(text);
  const bool has_wanted = !request_.kind || std::find(kinds.begin(), kinds.end(), *request_.kind) != kinds.end();
  if (kinds.size() == 2 && kinds[1] == ImportKind::kIperf3 && has_wanted) {  // whose lines are like no other tool's
    for (const ImportKind kind : kinds) {
      if (request_.kind.value_or(kind) == kind) read_as(kind, path, text);
    }
    return;
  }
  const std::optional<ImportKind> recognised = recognise(text);
  if (const auto tool = unread_tool_of(text); !recognised && !tool.empty()) {
    return unread_.push_back(
        {path, fmt::format("{} is not read; make a CSV of it with columns from,to,GB/s", tool), true});
  }
  if (request_.kind && recognised && *recognised != *request_.kind) {
    if (!path.of_folder) refuse_kind(path, *recognised, *request_.kind);
    return unread_.push_back({path, fmt::format("its format is {}", name_of(*recognised))});
  }
  if (recognised) return read_as(*recognised, path, text);
  if (request_.kind && !is_of_a_pair(*request_.kind)) return read_as(*request_.kind, path, text);
  unrecognised_.push_back(path);
}

void Importer::refuse_kind(const Path& path, ImportKind recognised, ImportKind asked) {
  throw UsageError(fmt::format("{}: its format is {}, not {}; give --import {}", readable_name(path.name),
                               name_of(recognised), name_of(asked), name_of(recognised)));
}

void Importer::read_as(ImportKind kind, const Path& path, std::string_view text) {
  Imported found = import_results(kind, {readable_name(path.name), text, request_.unit});
  if (found.readings.empty()) {
    const std::string place =
        found.notes.empty() || found.notes.front().line == 0 ? "" : fmt::format("line {}: ", found.notes.front().line);
    const std::string why = found.notes.empty() ? "it has no result" : found.notes.front().text;
    return unread_.push_back({path, fmt::format("{}{} ({})", place, why, name_of(kind)), true});
  }
  keep(kind, path, std::move(found));
}

void Importer::keep(ImportKind kind, const Path& path, Imported found) {
  const std::string name = readable_name(path.name);
  for (const ImportNote& note : found.notes) {
    all_.notices.push_back(note.line > 0 ? fmt::format("{}:{}: {}", name, note.line, note.text)
                                         : fmt::format("{}: {}", name, note.text));
  }
  all_.files.push_back({name, kind, std::move(found)});
}

/// The short names of all hosts.
std::set<std::string, std::less<>> Importer::known_hosts() const {
  std::set<std::string, std::less<>> known;
  for (const ImportedFiles::File& file : all_.files) {
    for (const std::string& host : file.found.hosts.names()) known.emplace(short_name(host));
  }
  return known;
}

/// Files without any recognisable text: failed runs where they have words of failure, and are named as others are.
void Importer::read_unrecognised() {
  std::vector<std::pair<Path, Imported>> failed;
  const std::set<Way> known = known_ways();
  std::set<std::string> shapes;
  for (const std::string& host : known_hosts()) shapes.insert(shape_of(host));
  for (const Path& path : unrecognised_) {
    const std::string text = text_of_file(path.name, "");
    Imported found = import_unrecognised({readable_name(path.name), text, 0});
    const auto way = way_named_by(path.name);
    const bool like_others = way && shapes.contains(shape_of(way->first)) && shapes.contains(shape_of(way->second));
    const bool is_second =
        way && known.contains(*way) && failure_of_program_in(text).empty() && wrong_data_in(text).empty();
    if (is_second) continue;
    if (like_others && !found.readings.empty()) {
      failed.emplace_back(path, std::move(found));
    } else if (way && !like_others && !all_.files.empty()) {
      unread_.push_back({path, "it has no result, and its file name has no hosts like those of the other files"});
    } else {
      const std::string why = found.notes.empty() ? "nothing tells which tool wrote it" : found.notes.front().text;
      unread_.push_back({path, why});
    }
  }
  const ImportKind kind = request_.kind.value_or(all_.files.empty() ? ImportKind::kCsv : all_.files.front().kind);
  for (auto& [path, found] : failed) keep(kind, path, std::move(found));
}

/// Leaves out what servers printed of pairs whose clients have printed a result.
void Importer::drop_what_clients_know() {
  std::set<Way> known;
  for (const ImportedFiles::File& file : all_.files) {
    if (!file.found.of_server) known.merge(ways_of(file));
  }
  std::erase_if(all_.files, [&](const ImportedFiles::File& file) {
    const std::set<Way> ways = ways_of(file);
    return file.found.of_server && std::includes(known.begin(), known.end(), ways.begin(), ways.end());
  });
}

std::set<Way> Importer::known_ways() const {
  std::set<Way> known;
  for (const ImportedFiles::File& file : all_.files) known.merge(ways_of(file));
  return known;
}

/// A second file of a pair, such as standard error or a list of hosts, has no result of its own. Others that name a
/// host are taken for logs.
void Importer::tell_of_unread() {
  const std::set<Way> known = known_ways();
  const auto hosts = known_hosts();
  const auto shape = [](const std::string& path) { return shape_of(fs::path(path).filename().string()); };
  std::set<std::string> shapes;  // of the names of logs, such as run#.log
  for (const ImportedFiles::File& file : all_.files) shapes.insert(shape(file.name));
  for (const Unread& file : unread_) {
    const auto way = way_named_by(file.path.name);
    if (way && known.contains(*way)) continue;
    all_.notices.push_back(fmt::format("{}: not understood: {}", readable_name(file.path.name), file.why));
    const bool is_a_log = file.should_have_results ||
                          (way && (hosts.contains(way->first) || hosts.contains(way->second))) ||
                          shapes.contains(shape(file.path.name));
    all_.not_understood += is_a_log ? 1 : 0;
  }
  for (const ImportedFiles::File& file : all_.files) all_.not_understood += file.found.lost > 0 ? 1 : 0;
}

/// The largest sizes of logs, by test, with the number of logs that end there.
using SizesOfTests = std::map<std::string, std::map<std::int64_t, std::size_t>>;

std::int64_t commonest_of(const std::map<std::int64_t, std::size_t>& sizes) {
  return std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

/// Reports a log whose largest message is smaller than the others'; it is not compared with them.
void Importer::tell_of_other_sizes() {
  SizesOfTests sizes;
  for (const ImportedFiles::File& file : all_.files) {
    for (const ImportedKind& kind : file.found.kinds) {
      if (kind.size_bytes != ImportedKind::kNoSize) ++sizes[kind.test][kind.size_bytes];
    }
  }
  for (const ImportedFiles::File& file : all_.files) {
    for (const ImportedKind& kind : file.found.kinds) {
      const auto known = sizes.find(kind.test);
      const bool may_differ = file.kind == ImportKind::kCsv || kind.size_bytes == ImportedKind::kNoSize;
      if (known == sizes.end() || may_differ) continue;
      const std::int64_t usual = commonest_of(known->second);
      if (kind.size_bytes >= usual) continue;
      ++all_.not_understood;
      all_.notices.push_back(
          fmt::format("{}: its largest message has {}, most others have {}: it is not compared with them", file.name,
                      readable_bytes(static_cast<Bytes>(kind.size_bytes)), readable_bytes(static_cast<Bytes>(usual))));
    }
  }
}

void Importer::finish_notices() {
  std::int64_t smaller = 0;
  for (const ImportedFiles::File& file : all_.files) smaller += file.found.smaller_sizes;
  if (all_.notices.size() > kMostNotices) {
    const std::size_t more = all_.notices.size() - kMostNotices;
    all_.notices.resize(kMostNotices);
    all_.notices.push_back(fmt::format("{} more notices like these are left out", more));
  }
  if (smaller > 0) {
    all_.notices.push_back(fmt::format("{} of smaller messages left out: the largest size of each run counts",
                                       smaller == 1 ? "1 figure" : fmt::format("{} figures", smaller)));
  }
}

void Importer::refuse_all() const {
  const std::string first = all_.notices.empty() ? "there is no file" : all_.notices.front();
  throw Error(ExitStatus::kNotJudged, fmt::format("no file was understood; {}", first));
}

}  // namespace

std::optional<ImportKind> parse_import_kind(const std::string& text) {
  if (text == "auto") return std::nullopt;
  if (const auto kind = import_kind_named(text)) return kind;
  throw UsageError(
      fmt::format("--import '{}' is not a kind of results; use one of auto, {}", text, import_kind_names()));
}

double parse_rate_unit(const std::string& text) {
  if (const auto unit = unit_in(text)) return *unit;
  throw UsageError(fmt::format(
      "--unit '{}' is not a unit of bandwidth; use one such as GB/s, Gb/s or MiB/s, with B for bytes and b for bits",
      text));
}

ImportedFiles import_files(const std::vector<std::string>& paths, const ImportRequest& request) {
  return Importer(request).import(paths);
}

std::string import_hint(const std::string& path) {
  std::error_code problem;
  if (!fs::is_regular_file(path, problem) || fs::file_size(path, problem) > kMostToHint) return "";
  const auto kind = recognise(text_of_file(path, ""));
  return kind ? fmt::format("; its format is {0}, which --import {0} reads", name_of(*kind)) : "";
}

}  // namespace fabricbench::cluster
