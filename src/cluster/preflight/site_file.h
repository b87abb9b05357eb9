// A site's file: what is meant to be so on its hosts, and who said so. Lines of JSON, and comments behind `#`.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/host/checks/check.h"
#include "common/record/preflight.h"

namespace fabricbench::cluster {

/// Whether a line about `hosts` is about this one; no hosts: about all.
[[nodiscard]] inline bool covers(const std::set<std::string>& hosts, const std::string& host) {
  return hosts.empty() || hosts.count(host) > 0;
}

class SiteFile {
 public:
  /// One line, and the hosts that it is about; no hosts: all.
  template <typename Record>
  struct Line {
    std::size_t number = 0;  ///< from 1
    std::set<std::string> hosts;
    Record record;
  };

  SiteFile() = default;
  /// Throws UsageError with `path` and the line of what cannot be understood.
  SiteFile(std::string path, std::string_view text);

  /// Makes a note, without consequence and advice, of a finding that is meant to be so on all of `hosts`, a list such
  /// as `node[01-16]`.
  void accept(const std::string& check, const std::string& hosts, host::CheckFinding& what) const;

  /// The values that a site expects, in the order of the file.
  [[nodiscard]] const std::vector<Line<SiteExpected>>& expected() const { return expected_; }

  /// `site.jsonl, line 4: root on login1, 2026-12-01`
  template <typename Record>
  [[nodiscard]] std::string named(const Line<Record>& line) const {
    return source_of(line.number, line.record.wanted_by);
  }

 private:
  [[nodiscard]] std::string source_of(std::size_t line, const std::string& wanted_by) const;

  std::string path_;
  std::vector<Line<SiteAccepted>> accepted_;
  std::vector<Line<SiteExpected>> expected_;
};

/// Reads it. Throws UsageError; a file that is not there is empty if it is to be written.
[[nodiscard]] SiteFile read_site_file(const std::string& path, bool to_be_written);

/// Adds lines at its end. Throws Error (kFailure).
void add_to_site_file(const std::string& path, std::string lines);

/// The lines that accept what was found: each failure and each warning, in the name of `who`.
[[nodiscard]] std::string site_lines(const std::vector<PreflightFinding>& findings, const std::string& who);

/// `alice on login1, 2026-12-01`
[[nodiscard]] std::string who_is_here();

}  // namespace fabricbench::cluster
