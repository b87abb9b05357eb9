#include "common/host/checks/view.h"

#include <netdb.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/core/ownership.h"
#include "common/host/files.h"
#include "common/host/identity.h"

namespace fabricbench::host {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& source, int error) {
  throw NotSeen(source, std::generic_category().message(error), error == ENOENT || error == ENOTDIR);
}

/// Many files below /sys open, but refuse to be read.
std::string read_file(const fs::path& file, const std::string& source) {
  const Handle<std::FILE, std::fclose> stream(std::fopen(file.c_str(), "rb"));
  if (!stream) fail(source, errno);
  std::string text;
  std::array<char, 4096> part{};
  errno = 0;
  while (const std::size_t bytes = std::fread(part.data(), 1, part.size(), stream.get()))
    text.append(part.data(), bytes);
  if (std::ferror(stream.get()) != 0) fail(source, errno);
  return text;
}

std::vector<std::string> read_folder(const fs::path& folder, const std::string& source) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) fail(source, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

/// The word before a source that is no file, and the rest.
std::pair<std::string, std::string> parts_of(const std::string& source) {
  const std::size_t slash = source.find('/');
  return {source.substr(0, slash), slash == std::string::npos ? "" : source.substr(slash + 1)};
}

std::string variable_of(const std::string& name) {
  const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody sets any
  if (value == nullptr) throw NotSeen("env/" + name, "is not set", true);
  return value;
}

std::string free_bytes(const std::string& path) {
  struct statvfs facts {};
  if (::statvfs(path.c_str(), &facts) != 0) fail("system/free" + path, errno);
  return fmt::format("{} {}", facts.f_bavail * facts.f_frsize, facts.f_blocks * facts.f_frsize);
}

/// The addresses of a name, each once, in one line each.
std::string addresses_of(const std::string& name) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(name.c_str(), nullptr, &wanted, &found);
  if (error != 0) throw NotSeen("system/address/" + name, ::gai_strerror(error), error == EAI_NONAME);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::set<std::string> texts;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0) {
      texts.insert(text.data());
    }
  }
  std::string lines;
  for (const std::string& text : texts) lines += text + "\n";
  return lines;
}

/// What the kernel and the C library answer.
std::string system_fact(const std::string& rest) {
  if (rest == "host_name") return host_name();
  if (rest == "kernel") return kernel_release();
  if (rest.starts_with("free/")) return free_bytes(rest.substr(std::string_view("free").size()));
  if (rest.starts_with("address/")) return addresses_of(rest.substr(std::string_view("address/").size()));
  throw NotSeen("system/" + rest, "is not known");
}

}  // namespace

std::string View::field(const std::string& source, std::string_view key) const {
  std::istringstream lines(text(source));
  if (const auto value = find_value_in(lines, key); value && !value->empty()) return *value;
  throw NotSeen(source, fmt::format("has no {}", key));
}

LiveView::LiveView(std::map<std::string, Provider> providers) : providers_(std::move(providers)) {
  providers_.emplace("env", variable_of);
  providers_.emplace("system", system_fact);
}

std::string LiveView::text(const std::string& source) const {
  if (source.starts_with('/')) return read_file(source, source);
  const auto [word, rest] = parts_of(source);
  const auto provider = providers_.find(word);
  if (provider == providers_.end()) throw NotSeen(source, "this program cannot ask for it");
  return provider->second(rest);
}

std::vector<std::string> LiveView::names(const std::string& folder) const { return read_folder(folder, folder); }

std::string LiveView::target(const std::string& link) const {
  std::error_code error;
  fs::path path = fs::canonical(link, error);
  if (error) fail(link, error.value());
  return path.string();
}

FolderView::FolderView(fs::path folder) : folder_(std::move(folder)) { folder_ = fs::canonical(folder_); }

fs::path FolderView::file_of(const std::string& source) const {
  if (source.starts_with('/')) return folder_ / source.substr(1);
  auto [word, rest] = parts_of(source);
  if (word == "command") std::replace(rest.begin(), rest.end(), '/', '_');
  return folder_ / ("@" + word) / rest;
}

std::string FolderView::text(const std::string& source) const { return read_file(file_of(source), source); }

std::vector<std::string> FolderView::names(const std::string& folder) const {
  return read_folder(file_of(folder), folder);
}

/// Links of a copy are relative, as those below /sys are.
std::string FolderView::target(const std::string& link) const {
  std::error_code error;
  const fs::path path = fs::canonical(file_of(link), error);
  if (error) fail(link, error.value());
  const std::string text = path.string();
  if (!text.starts_with(folder_.string())) throw NotSeen(link, "leads out of " + folder_.string());
  return text.substr(folder_.string().size());
}

}  // namespace fabricbench::host
