#include "common/host/checks/view.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/core/ownership.h"
#include "common/host/checks/system_facts.h"
#include "common/host/files.h"

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

/// A file, folder or link of a host whose files are below `root`.
struct Place {
  fs::path root;
  fs::path file;  ///< from there
  std::string source;
};

/// What is not there is known to be absent only if its first folder is there, and of the kernel's files, the first two:
/// a container may have no /sys/class, and a copy no /sys/bus and no /etc.
bool is_known(const Place& place) {
  const fs::path above = place.file.parent_path();
  int left = above.empty() || (*above.begin() != "sys" && *above.begin() != "proc") ? 1 : 2;
  fs::path first = place.root;
  for (const fs::path& part : above) {
    if (left-- > 0) first /= part;
  }
  std::error_code error;
  return fs::is_directory(first, error);
}

[[noreturn]] void fail(const Place& place, int error) {
  const bool is_absent = (error == ENOENT || error == ENOTDIR) && is_known(place);
  throw NotSeen(place.source, std::generic_category().message(error), is_absent);
}

/// Many files below /sys open, but refuse to be read.
std::string read_file(const Place& place) {
  const Handle<std::FILE, std::fclose> stream(std::fopen((place.root / place.file).c_str(), "rb"));
  if (!stream) fail(place, errno);
  std::string text;
  std::array<char, 4096> part{};
  errno = 0;
  while (const std::size_t bytes = std::fread(part.data(), 1, part.size(), stream.get()))
    text.append(part.data(), bytes);
  if (std::ferror(stream.get()) != 0) fail(place, errno);
  return text;
}

std::vector<std::string> read_folder(const Place& place) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entry(place.root / place.file, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) fail(place, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

std::string follow(const Place& place) {
  std::error_code error;
  fs::path path = fs::canonical(place.root / place.file, error);
  if (error) fail(place, error.value());
  return path.string();
}

Place on_this_host(const std::string& source) { return {"/", source.substr(1), source}; }

/// The word before a source that is no file, and the rest.
std::pair<std::string, std::string> parts_of(const std::string& source) {
  const std::size_t slash = source.find('/');
  return {source.substr(0, slash), slash == std::string::npos ? "" : source.substr(slash + 1)};
}

}  // namespace

std::string View::field(const std::string& source, std::string_view key) const {
  std::istringstream lines(text(source));
  if (const auto value = find_value_in(lines, key); value && !value->empty()) return *value;
  throw NotSeen(source, fmt::format("has no {}", key));
}

LiveView::LiveView(std::map<std::string, Provider> providers) : providers_(std::move(providers)) {
  providers_.emplace("env", environment_variable);
  providers_.emplace("system", system_fact);
}

std::string LiveView::text(const std::string& source) const {
  if (source.starts_with('/')) return read_file(on_this_host(source));
  const auto [word, rest] = parts_of(source);
  const auto provider = providers_.find(word);
  if (provider == providers_.end()) throw NotSeen(source, "this program cannot ask for it");
  return provider->second(rest);
}

std::vector<std::string> LiveView::names(const std::string& folder) const {
  return folder == "env" ? environment_names() : read_folder(on_this_host(folder));
}

std::string LiveView::target(const std::string& link) const { return follow(on_this_host(link)); }

FolderView::FolderView(fs::path folder) : folder_(std::move(folder)) { folder_ = fs::canonical(folder_); }

fs::path FolderView::file_of(const std::string& source) const {
  if (source.starts_with('/')) return source.substr(1);
  auto [word, rest] = parts_of(source);
  if (word == "command") std::replace(rest.begin(), rest.end(), '/', '_');
  return fs::path("@" + word) / rest;
}

std::string FolderView::text(const std::string& source) const { return read_file({folder_, file_of(source), source}); }

std::vector<std::string> FolderView::names(const std::string& folder) const {
  return read_folder({folder_, file_of(folder), folder});
}

/// Links of a copy are relative, as those below /sys are.
std::string FolderView::target(const std::string& link) const {
  const std::string text = follow({folder_, file_of(link), link});
  if (!text.starts_with(folder_.string())) throw NotSeen(link, "leads out of " + folder_.string());
  return text.substr(folder_.string().size());
}

}  // namespace fabricbench::host
