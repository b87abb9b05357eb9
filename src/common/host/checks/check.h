// A check: one question to a host, what it read, and what it found. Each is one file here, and a line of checks.cpp.
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/host/checks/view.h"
#include "common/host/files.h"

namespace fabricbench::host {

/// How much a finding matters.
enum class CheckLevel {
  kNote,     ///< worth knowing
  kWarning,  ///< costs speed, or may
  kFailure,  ///< jobs fail, hang, or run at a fraction of their speed
};
constexpr auto names_of(CheckLevel) { return std::to_array<std::string_view>({"note", "warn", "fail"}); }

/// One thing that is wrong, in the words that a line of the report is made of.
struct CheckFinding {
  CheckLevel level = CheckLevel::kWarning;
  std::string device{};       ///< `mlx5_0 port 1`; empty: the host
  std::string measured;       ///< `state INIT`
  std::string expected;       ///< `state ACTIVE`
  std::string expected_by{};  ///< where that comes from: `what the port can do`
  std::string consequence;    ///< what it does to training: `NCCL leaves this rail out`
  std::string next{};         ///< what to do or to run next

  bool maybe_by_design = false;     ///< if all hosts have it, and they are three or more, it is a note
  bool only_between_hosts = false;  ///< on one host alone it is a note
  friend auto operator<=>(const CheckFinding&,
                          const CheckFinding&) = default;  // NOLINT(modernize-use-nullptr): it takes <=> for a pointer
};

/// What a check could not see, and why.
struct UnseenSource {
  std::string source;
  std::string reason;

  friend auto operator<=>(const UnseenSource&,
                          const UnseenSource&) = default;  // NOLINT(modernize-use-nullptr): it takes <=> for a pointer
};

/// A value that should be equal on all hosts of one hardware class.
struct HostFact {
  std::string key;       ///< of the check's `Compared`
  std::string among{};   ///< values are compared with those of the same text here: an adapter's board, an interface
  std::string device{};  ///< empty: the host
  std::string value;

  friend auto operator<=>(const HostFact&,
                          const HostFact&) = default;  // NOLINT(modernize-use-nullptr): it takes <=> for a pointer
};

/// What a difference between hosts means.
struct Compared {
  std::string_view key;
  std::string_view title;  ///< `firmware of adapters`
  CheckLevel level = CheckLevel::kWarning;
  std::string_view consequence;
  std::string_view next;
  bool is_count = false;  ///< a host that has looked and states none has `none`
};

enum class CheckOutcome {
  kOk,          ///< everything was seen, and nothing is wrong
  kFinding,     ///< something is wrong
  kNotChecked,  ///< something could not be seen, and the rest is not wrong
  kAbsent,      ///< the host has nothing of the kind
};
constexpr auto names_of(CheckOutcome) {
  return std::to_array<std::string_view>({"ok", "finding", "could_not_check", "absent"});
}

struct CheckResult {
  std::string check;
  CheckOutcome outcome = CheckOutcome::kNotChecked;
  std::vector<CheckFinding> findings{};
  std::vector<UnseenSource> unseen{};
  std::vector<HostFact> facts{};
  std::string absent{};  ///< what is not here: `no RDMA device`
};

/// Sets the outcome by what is wrong and what was not seen; ok where there is neither.
void set_outcome(CheckResult& result);

/// A check's way to the host. What cannot be read ends the check, or the item that `each` is at, as not seen.
class Look {
 public:
  explicit Look(const View& view) : view_(view) {}

  /// The text of a source without blanks around it, which is there and not empty. Throws NotSeen.
  [[nodiscard]] std::string text(const std::string& source);
  /// The same, or nothing where that the source is not there is an answer. Throws NotSeen where it cannot be read.
  [[nodiscard]] std::optional<std::string> text_if_any(const std::string& source);
  /// The integer that is the whole text. Throws NotSeen.
  template <std::integral Integer>
  [[nodiscard]] Integer number(const std::string& source) {
    return number_in<Integer>(source, text(source));
  }
  /// The integer that `word`, a part of what was read, spells. Throws NotSeen.
  template <std::integral Integer>
  [[nodiscard]] Integer number_in(const std::string& source, std::string_view word) {
    const auto value = parse_integer<Integer>(word);
    if (!value) throw NotSeen(source, "'" + std::string(word) + "' is not a number");
    return *value;
  }
  /// The lines of a text. Throws NotSeen.
  [[nodiscard]] std::vector<std::string> lines(const std::string& source);
  /// What follows `key`, blanks and a colon on the line that begins with it. Throws NotSeen.
  [[nodiscard]] std::string field(const std::string& source, std::string_view key);
  /// The names in a folder; nothing where that it is not there is an answer. Throws NotSeen.
  [[nodiscard]] std::vector<std::string> names(const std::string& folder);
  [[nodiscard]] std::optional<std::vector<std::string>> names_if_any(const std::string& folder);
  /// The path that a link leads to: of a PCI device, its name is the address, and what is above it is bridges. Throws
  /// NotSeen.
  [[nodiscard]] std::string path(const std::string& link);
  /// The last part of that path.
  [[nodiscard]] std::string target(const std::string& link);

  /// Calls `action` for each item; one that is not seen leaves the others.
  void each(const std::vector<std::string>& items, const std::function<void(const std::string&)>& action);
  void attempt(const std::function<void()>& action);

  void report(CheckFinding finding) { result_.findings.push_back(std::move(finding)); }
  void state(HostFact fact) { result_.facts.push_back(std::move(fact)); }
  void not_seen(const NotSeen& reason) { result_.unseen.push_back({reason.source(), reason.reason()}); }

  /// What came out.
  [[nodiscard]] CheckResult take(std::string_view check, std::optional<std::string> absent);

 private:
  const View& view_;
  CheckResult result_;
  bool has_read_ = false;
};

/// One question to a host.
struct Check {
  std::string_view name;     ///< `port_state`
  std::string_view what;     ///< what is so on a host that is well, in one sentence
  std::string_view reads;    ///< where from, for the documents
  bool is_required = false;  ///< a run that could not check this cannot be trusted: exit status 7
  /// Why this host has nothing to be checked here; nothing: it has. Throws NotSeen.
  std::optional<std::string> (*absent)(Look&) = nullptr;
  void (*look)(Look&) = nullptr;  ///< throws NotSeen
  std::vector<Compared> compared{};
};

/// Asks it. Does not throw NotSeen. A check that has read nothing could not check.
[[nodiscard]] CheckResult run_check(const Check& check, const View& view);

}  // namespace fabricbench::host
