#include "common/host/checks/check.h"

#include <filesystem>
#include <sstream>
#include <utility>

namespace fabricbench::host {

std::string Look::text(const std::string& source) {
  std::string text(without_blanks(view_.text(source)));
  if (text.empty()) throw NotSeen(source, "is empty");
  has_read_ = true;
  return text;
}

std::optional<std::string> Look::text_if_any(const std::string& source) {
  try {
    std::string text(without_blanks(view_.text(source)));
    has_read_ = true;
    return text;
  } catch (const NotSeen& reason) {
    if (!reason.is_absent()) throw;
    has_read_ = true;
    return std::nullopt;
  }
}

std::vector<std::string> Look::lines(const std::string& source) {
  std::istringstream stream(text(source));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string Look::field(const std::string& source, std::string_view key) {
  std::string value = view_.field(source, key);
  has_read_ = true;
  return value;
}

std::vector<std::string> Look::names(const std::string& folder) {
  std::vector<std::string> names = view_.names(folder);
  has_read_ = true;
  return names;
}

std::optional<std::vector<std::string>> Look::names_if_any(const std::string& folder) {
  try {
    return names(folder);
  } catch (const NotSeen& reason) {
    if (!reason.is_absent()) throw;
    has_read_ = true;
    return std::nullopt;
  }
}

std::string Look::path(const std::string& link) {
  std::string path = view_.target(link);
  has_read_ = true;
  return path;
}

std::string Look::target(const std::string& link) { return std::filesystem::path(path(link)).filename().string(); }

void Look::each(const std::vector<std::string>& items, const std::function<void(const std::string&)>& action) {
  for (const std::string& item : items) attempt([&] { action(item); });
}

void Look::attempt(const std::function<void()>& action) {
  try {
    action();
  } catch (const NotSeen& reason) {
    not_seen(reason);
  }
}

void set_outcome(CheckResult& result) {
  result.outcome = !result.findings.empty() ? CheckOutcome::kFinding
                   : !result.unseen.empty() ? CheckOutcome::kNotChecked
                                            : CheckOutcome::kOk;
}

CheckResult Look::take(std::string_view check, std::optional<std::string> absent) {
  CheckResult result = std::move(result_);
  result.check = check;
  if (!has_read_ && result.unseen.empty()) result.unseen.push_back({"", "nothing was read"});
  set_outcome(result);
  if (absent && result.outcome == CheckOutcome::kOk) {
    result.outcome = CheckOutcome::kAbsent;
    result.absent = *std::move(absent);
  }
  return result;
}

CheckResult run_check(const Check& check, const View& view) {
  Look look(view);
  std::optional<std::string> absent;
  look.attempt([&] {
    if (check.absent != nullptr) absent = check.absent(look);
    if (!absent) check.look(look);
  });
  return look.take(check.name, absent);
}

}  // namespace fabricbench::host
