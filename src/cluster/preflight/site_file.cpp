#include "cluster/preflight/site_file.h"

#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/hosts/host_list.h"
#include "cluster/launch/children.h"
#include "common/core/error.h"
#include "common/core/names.h"
#include "common/host/checks/checks.h"
#include "common/host/files.h"
#include "common/host/identity.h"
#include "common/record/json.h"
#include "common/record/read.h"

namespace fabricbench::cluster {
namespace {

/// A key that is spelled wrong would accept more than was meant.
template <typename Record>
void refuse_other_keys(std::string_view line) {
  const auto& fields = record::detail::readers_of<Record>();
  const record::Json given = record::Json::parse(line);
  for (const auto& [key, value] : given.items()) {
    const auto is_it = [&key = key](const auto& field) { return field.key == key; };
    if (key == "kind" || std::any_of(fields.begin(), fields.end(), is_it)) continue;
    std::vector<NearName> names;
    names.reserve(fields.size());
    for (const auto& field : fields) names.push_back({name_distance(key, field.key), std::string(field.key)});
    const std::string nearest = the_nearest(key, std::move(names));
    throw std::invalid_argument(fmt::format("there is no key '{}'{}", key, nearest.empty() ? "" : "; " + nearest));
  }
}

std::set<std::string> hosts_in(const std::string& list) {
  HostList hosts;
  if (!list.empty()) hosts.add_list(list, "hosts");
  const std::vector<std::string> names = hosts.names();
  return {names.begin(), names.end()};
}

template <typename Record>
SiteFile::Line<Record> line_of(std::string_view text, std::size_t number, record::LineReader& reader) {
  refuse_other_keys<Record>(text);
  SiteFile::Line<Record> line{number, {}, reader.read_whole<Record>()};
  if (line.record.wanted_by.empty()) throw std::invalid_argument("wanted_by is empty; say who wants it so");
  line.hosts = hosts_in(line.record.hosts);
  return line;
}

/// Throws std::invalid_argument where no check compares this.
void require_value(const SiteExpected& expected) {
  const auto& checks = host::all_checks();
  const auto check =
      std::find_if(checks.begin(), checks.end(), [&](const auto& each) { return each.name == expected.check; });
  if (check == checks.end()) throw std::invalid_argument(fmt::format("there is no check '{}'", expected.check));
  std::vector<std::string_view> known;
  for (const host::Compared& compared : check->compared) known.push_back(compared.key);
  if (std::find(known.begin(), known.end(), expected.value_of) != known.end()) return;
  throw std::invalid_argument(
      fmt::format("{} has no value '{}'; it has {}", expected.check, expected.value_of,
                  known.empty() ? "none that is compared" : fmt::format("{}", fmt::join(known, ", "))));
}

}  // namespace

SiteFile::SiteFile(std::string path, std::string_view text) : path_(std::move(path)) {
  std::istringstream lines{std::string(text)};
  record::LineReader reader;
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    const std::string_view words = host::without_blanks(line);
    if (words.empty() || words.front() == '#') continue;
    try {
      const std::string_view kind = reader.open(words);
      if (kind == "accepted") {
        accepted_.push_back(line_of<SiteAccepted>(words, number, reader));
      } else if (kind == "expected") {
        expected_.push_back(line_of<SiteExpected>(words, number, reader));
        require_value(expected_.back().record);
      } else {
        throw std::invalid_argument(fmt::format("kind '{}' is neither accepted nor expected", kind));
      }
    } catch (const std::exception& problem) {
      throw UsageError(fmt::format("{}, line {}: {}; docs/preflight.md has the format", path_, number, problem.what()));
    }
  }
}

std::string SiteFile::source_of(std::size_t line, const std::string& wanted_by) const {
  return fmt::format("{}, line {}: {}", path_, line, wanted_by);
}

void SiteFile::accept(const std::string& check, const std::string& hosts, host::CheckFinding& what) const {
  const auto is_meant = [&](const Line<SiteAccepted>& line) {
    const SiteAccepted& accepted = line.record;
    if (accepted.check != check || (!accepted.device.empty() && accepted.device != what.device)) return false;
    if (!accepted.measured.empty() && accepted.measured != what.measured) return false;
    if (line.hosts.empty()) return true;
    const std::set<std::string> all = hosts_in(hosts);
    return !all.empty() && std::includes(line.hosts.begin(), line.hosts.end(), all.begin(), all.end());
  };
  const auto found = std::find_if(accepted_.begin(), accepted_.end(), is_meant);
  if (found == accepted_.end()) return;
  what.level = host::CheckLevel::kNote;
  what.expected_by = fmt::format("accepted by {}", named(*found));
  what.consequence.clear();
  what.next.clear();
}

std::string site_lines(const std::vector<PreflightFinding>& findings, const std::string& who) {
  std::string lines;
  for (const PreflightFinding& each : findings) {
    if (each.what.level == host::CheckLevel::kNote) continue;
    const SiteAccepted accepted{each.check, each.hosts, each.what.device, each.what.measured, who};
    lines += record::json_line(record::to_json(accepted));
  }
  return lines;
}

SiteFile read_site_file(const std::string& path, bool to_be_written) {
  if (path.empty()) return {};
  if (const auto text = host::read_text(path)) return {path, *text};
  const bool is_there = std::filesystem::exists(path);
  if (to_be_written && !is_there) return {path, ""};
  throw UsageError(fmt::format("--site {}: {}; name a file that can be read, or add --accept-as-is to begin one", path,
                               is_there ? "cannot be read" : "there is no such file"));
}

void add_to_site_file(const std::string& path, std::string lines) {
  if (!host::read_text(path).value_or("\n").ends_with('\n')) lines.insert(0, "\n");
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  const int written = file.get() < 0 ? errno : host::write_all(file.get(), lines);
  if (written != 0) {
    throw Error(ExitStatus::kFailure,
                fmt::format("cannot write '{}': {}", path, std::system_category().message(written)));
  }
}

std::string who_is_here() {
  const passwd* const user = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe)
  const std::string name = user != nullptr ? user->pw_name : std::to_string(::geteuid());
  return fmt::format("{} on {}, {:%Y-%m-%d}", name, host::host_name(), fmt::gmtime(std::time(nullptr)));
}

}  // namespace fabricbench::cluster
