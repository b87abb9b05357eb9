#include "cluster/preflight/host_view.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "cluster/launch/children.h"
#include "cluster/launch/launcher.h"
#include "common/core/error.h"
#include "common/core/plain_text.h"

namespace fabricbench::cluster {
namespace {

namespace fs = std::filesystem;

constexpr int kCommandSeconds = 5;

std::string printed_by(const std::string& command) {
  const std::vector<std::string> words = split_words(command);
  const std::string source = "command/" + command;
  if (found_on_path(words.front()).empty()) throw host::NotSeen(source, words.front() + " is not installed");
  const Said said = said_by({{}, words}, kCommandSeconds);
  if (said.status == kTimedOut) throw host::NotSeen(source, fmt::format("took more than {} s", kCommandSeconds));
  if (said.status != 0) throw host::NotSeen(source, fmt::format("ended with status {}", said.status));
  return said.text;
}

bool is_host(const fs::path& folder) { return fs::is_directory(folder / "sys") || fs::is_directory(folder / "proc"); }

host::HostReport examine_folder(const fs::path& folder) {
  host::HostReport report = host::examine(host::FolderView(folder));
  if (report.host == host::kUnknownHost) report.host = as_host_name(fs::canonical(folder).filename().string());
  return report;
}

}  // namespace

std::unique_ptr<host::View> view_of_this_host() {
  return std::make_unique<host::LiveView>(std::map<std::string, host::Provider>{{"command", printed_by}});
}

std::vector<host::HostReport> examine_recorded_hosts(const std::string& folder) {
  if (is_host(folder)) return {examine_folder(folder)};
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (is_host(entry->path())) folders.push_back(entry->path());
  }
  if (folders.empty()) {
    throw UsageError(
        fmt::format("--recorded {}: {}; give a folder with copies of /sys and /proc, or with a folder of "
                    "them for each host",
                    folder, error ? error.message() : "has no recorded host"));
  }
  std::sort(folders.begin(), folders.end());
  std::vector<host::HostReport> reports;
  reports.reserve(folders.size());
  for (const fs::path& each : folders) reports.push_back(examine_folder(each));
  return reports;
}

}  // namespace fabricbench::cluster
