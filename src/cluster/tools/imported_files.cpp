#include "cluster/tools/imported_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cluster/import/pair_name.h"
#include "cluster/import/text.h"
#include "cluster/tools/input_file.h"
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

/// The files in a folder, sorted by name, without hidden ones.
std::vector<Path> files_of(const std::string& path) {
  std::error_code problem;
  if (path == "-" || !fs::is_directory(path, problem)) return {{path, false}};
  std::vector<Path> files;
  for (auto entry = fs::recursive_directory_iterator(path, problem); !problem && entry != fs::end(entry);
       entry.increment(problem)) {
    if (entry->path().filename().string().starts_with('.')) {
      entry.disable_recursion_pending();
    } else if (!entry->is_directory(problem)) {
      files.push_back({entry->path().string(), true});
    }
  }
  if (problem) {
    throw Error(ExitStatus::kMissing,
                fmt::format("cannot read '{}': {}; check the path and its permissions", path, problem.message()));
  }
  std::sort(files.begin(), files.end(), [](const Path& a, const Path& b) { return a.name < b.name; });
  return files;
}

bool is_binary(std::string_view text) { return text.find('\0') != std::string_view::npos; }
bool is_of_records(std::string_view text) { return trimmed(text).starts_with("{\"kind\""); }

class Importer {
 public:
  explicit Importer(const ImportRequest& request) : request_(request) {}

  ImportedFiles import(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      for (const Path& file : files_of(path)) read(file);
    }
    read_unrecognised();
    drop_what_only_names_tell();
    finish_notices();
    if (all_.files.empty() && all_.records.empty()) refuse_all();
    return std::move(all_);
  }

 private:
  void read(const Path& path);
  void read_as(ImportKind kind, const Path& path, std::string_view text);
  void read_unrecognised();
  void drop_what_only_names_tell();
  void tell_of_other_sizes();
  void finish_notices();
  void not_understood(const Path& path, const std::string& why);
  [[noreturn]] void refuse_all() const;
  [[noreturn]] static void refuse_kind(const Path& path, ImportKind recognised, ImportKind asked);

  ImportRequest request_;
  ImportedFiles all_;
  std::vector<Path> unrecognised_;
  std::vector<Path> paths_;  // of all_.files
};

void Importer::read(const Path& path) {
  const std::string text = text_of_file(path.name, "");
  if (is_binary(text)) return not_understood(path, "it is not a text file");
  if (is_of_records(text)) {
    if (!request_.kind) return all_.records.push_back(path.name);
    return not_understood(path, "it is a file of records, which is read without --import");
  }
  const std::optional<ImportKind> recognised = recognise(text);
  if (!request_.kind && !recognised) return unrecognised_.push_back(path);
  if (request_.kind && recognised && *recognised != *request_.kind) {
    if (!path.of_folder) refuse_kind(path, *recognised, *request_.kind);
    return not_understood(path, fmt::format("its format is {}", name_of(*recognised)));
  }
  read_as(request_.kind.value_or(recognised.value_or(ImportKind::kCsv)), path, text);
}

void Importer::refuse_kind(const Path& path, ImportKind recognised, ImportKind asked) {
  throw UsageError(fmt::format("{}: its format is {}, not {}; give --import {}", readable_name(path.name),
                               name_of(recognised), name_of(asked), name_of(recognised)));
}

void Importer::read_as(ImportKind kind, const Path& path, std::string_view text) {
  const std::string name = readable_name(path.name);
  Imported found = import_results(kind, {name, text, request_.unit});
  if (found.readings.empty()) {
    const std::string why = found.notes.empty() ? "it has no result" : found.notes.front().text;
    return not_understood(path, fmt::format("{} ({})", why, name_of(kind)));
  }
  for (const ImportNote& note : found.notes) {
    all_.notices.push_back(note.line > 0 ? fmt::format("{}:{}: {}", name, note.line, note.text)
                                         : fmt::format("{}: {}", name, note.text));
  }
  all_.files.push_back({name, kind, std::move(found)});
  paths_.push_back(path);
}

/// Handles logs without any recognisable text, such as those of failed jobs: they are of the same kind as all others,
/// if those agree.
void Importer::read_unrecognised() {
  std::set<ImportKind> kinds;
  for (const ImportedFiles::File& file : all_.files) kinds.insert(file.kind);
  for (const Path& path : std::exchange(unrecognised_, {})) {
    if (kinds.size() == 1) {
      read_as(*kinds.begin(), path, text_of_file(path.name, ""));
    } else {
      not_understood(path, fmt::format("the tool that wrote it is not clear; name the tool by --import with one of {}",
                                       import_kind_names()));
    }
  }
}

/// Drops files without recognisable text, unless their names contain hosts that other files also have.
void Importer::drop_what_only_names_tell() {
  std::set<std::string> shapes;
  for (const ImportedFiles::File& file : all_.files) {
    if (file.found.by_name_only) continue;
    for (const std::string& host : file.found.hosts.names()) shapes.insert(shape_of(host));
  }
  const auto is_known = [&](const std::string& host) { return shapes.count(shape_of(host)) != 0; };
  for (std::size_t i = 0; i < all_.files.size();) {
    const Imported& found = all_.files[i].found;
    const auto& hosts = found.hosts.names();
    if (!found.by_name_only || std::all_of(hosts.begin(), hosts.end(), is_known)) {
      ++i;
      continue;
    }
    const Path path = paths_[i];
    const std::string why =
        fmt::format("it has no result of {}, and its file name has no hosts like those of the other files",
                    name_of(all_.files[i].kind));
    all_.files.erase(all_.files.begin() + static_cast<std::ptrdiff_t>(i));
    paths_.erase(paths_.begin() + static_cast<std::ptrdiff_t>(i));
    not_understood(path, why);
  }
}

void Importer::not_understood(const Path& path, const std::string& why) {
  const std::string message = fmt::format("{}: not understood: {}", readable_name(path.name), why);
  if (!path.of_folder) throw Error(ExitStatus::kNotJudged, message);
  all_.notices.push_back(message);
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
      all_.notices.push_back(
          fmt::format("{}: its largest message has {}, most others have {}: it is not compared with them", file.name,
                      readable_bytes(static_cast<Bytes>(kind.size_bytes)), readable_bytes(static_cast<Bytes>(usual))));
    }
  }
}

void Importer::finish_notices() {
  tell_of_other_sizes();
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
