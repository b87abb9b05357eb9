// What all hosts have found, as lines: one for each cause, with the hosts that have it. Pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/preflight/site_file.h"
#include "common/record/preflight.h"
#include "common/record/row.h"
#include "common/report/sink.h"

namespace fabricbench::cluster {

/// Gathers what hosts report. Values that should be equal are compared within a hardware class: the minority is a
/// finding; where no value has more than half, or only two hosts differ, the finding says that nobody can tell which.
class Overview {
 public:
  /// `checks`: those whose results are added, in their order; they outlive this. `site`: what is meant to be so.
  explicit Overview(const std::vector<host::Check>& checks = host::all_checks(), SiteFile site = {})
      : known_(checks), site_(std::move(site)) {}

  void add(const host::HostReport& report);
  /// What a check between hosts has found, and could not do; `hosts` took part.
  void add(const std::string& check, std::size_t hosts, std::vector<PreflightFinding> findings,
           std::vector<PreflightUnseen> unseen);

  [[nodiscard]] std::size_t hosts() const { return std::max(names_.size(), between_); }
  /// In the order of the checks.
  [[nodiscard]] std::vector<PreflightCheck> checks() const;
  /// Failures first, then warnings, then notes; in that order by check.
  [[nodiscard]] std::vector<PreflightFinding> findings() const;
  /// What is required first.
  [[nodiscard]] std::vector<PreflightUnseen> unseen() const;

  /// The failures and warnings as lines of a site's file that accepts them, in the name of `who`.
  [[nodiscard]] std::string site_lines(const std::string& who) const;

  /// Reports all of that, and returns the ending.
  [[nodiscard]] Ending tell(const Outputs& outputs) const;

 private:
  using Hosts = std::vector<std::size_t>;  // numbers, in the order of add(), ascending
  /// A device of a host.
  using Place = std::pair<std::size_t, std::string>;
  struct Population {
    std::map<std::string, std::vector<Place>> by_value;
  };
  struct Question {
    std::string check;
    std::string key;
    std::string among;
    std::string hardware_class;
    friend auto operator<=>(const Question&,
                            const Question&) = default;  // NOLINT(modernize-use-nullptr): it takes <=> for a pointer
  };

  /// What devices should have, and who says so.
  struct Norm {
    std::string value;
    std::string expected;
    std::string expected_by;
  };

  [[nodiscard]] std::vector<PreflightFinding> own_findings() const;
  [[nodiscard]] static std::vector<PreflightFinding> with_devices_folded(const std::vector<PreflightFinding>& all);
  [[nodiscard]] std::vector<PreflightFinding> findings_between_hosts() const;
  [[nodiscard]] std::string folded(const Hosts& hosts) const;
  [[nodiscard]] PreflightFinding finding(const std::string& check, const Hosts& hosts, host::CheckFinding what) const;
  void compare(const Question& question, const host::Compared& compared, const Population& population,
               std::vector<PreflightFinding>& found) const;
  void judge(const Question& question, const host::Compared& compared, Population population,
             std::vector<PreflightFinding>& found) const;
  void name_others(const Question& question, const host::Compared& compared, const Population& population,
                   const Norm& norm, std::vector<PreflightFinding>& found) const;
  [[nodiscard]] Population completed(const Question& question, const Population& population) const;

  [[nodiscard]] const host::Check* find_check(const std::string& name) const;
  [[nodiscard]] const host::Compared* find_compared(const std::string& check, const std::string& key) const;
  [[nodiscard]] std::size_t place_of(const std::string& check) const;

  std::span<const host::Check> known_;
  SiteFile site_;
  std::vector<std::string> names_;
  std::map<std::string, Hosts> classes_;
  std::map<std::string, PreflightCheck> checks_;
  std::map<std::string, Hosts> looked_;  // by check: hosts that have seen everything
  std::map<std::pair<std::string, host::CheckFinding>, Hosts> findings_;
  std::map<std::pair<std::string, host::UnseenSource>, Hosts> unseen_;
  std::map<Question, Population> facts_;
  std::size_t between_ = 0;  // hosts that took part in what follows
  std::vector<PreflightFinding> between_hosts_;
  std::vector<PreflightUnseen> unseen_between_hosts_;
};

/// The exit status of what was found, and the reason in one sentence: kTooSlow with failures, kNotJudged if something
/// required could not be seen.
[[nodiscard]] Ending conclude_preflight(const std::vector<PreflightFinding>& findings,
                                        const std::vector<PreflightUnseen>& unseen, std::size_t hosts);

}  // namespace fabricbench::cluster
