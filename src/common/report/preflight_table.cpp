#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/names.h"
#include "common/core/plain_text.h"
#include "common/core/wording.h"
#include "common/record/preflight.h"
#include "common/report/banner.h"
#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench {
namespace {

constexpr std::string_view kIndent = "      ";

/// A sentence in lines that begin below the first one.
std::string paragraph(std::string_view begin, const std::string& text) {
  constexpr std::size_t kWidth = 104;
  return fmt::format("{}{}\n", begin, fmt::join(wrapped(printable(text), kWidth), fmt::format("\n{}", kIndent)));
}

/// `node[01-16]`, or `all 16 hosts`.
std::string hosts_text(const std::string& hosts, std::int64_t count, std::int64_t all) {
  return count == all && count > 1 ? fmt::format("all {} hosts", count) : hosts;
}

std::string text_of(const PreflightUnseen& unseen, std::int64_t hosts) {
  std::string text = fmt::format("{}: could not check {}: {} {}", hosts_text(unseen.hosts, unseen.host_count, hosts),
                                 unseen.check, unseen.what.source, unseen.what.reason);
  if (unseen.source_count > 1) text += fmt::format(" (and {} more)", unseen.source_count - 1);
  return paragraph(unseen.is_required ? "????  " : "?     ", text);
}

std::string text_of(const PreflightFinding& finding, std::int64_t hosts) {
  const host::CheckFinding& what = finding.what;
  constexpr std::string_view kLevels[] = {"note  ", "WARN  ", "FAIL  "};
  std::string first = hosts_text(finding.hosts, finding.host_count, hosts);
  if (!what.device.empty()) first += fmt::format("{}{}", first.empty() ? "" : ", ", what.device);
  first += fmt::format(": {}", what.measured);
  first += fmt::format("; expected {}", what.expected);
  if (!what.expected_by.empty()) first += fmt::format(" ({})", what.expected_by);
  std::string text = paragraph(kLevels[static_cast<std::size_t>(what.level)], first);
  if (!what.consequence.empty()) text += paragraph(kIndent, fmt::format("Effect: {}.", what.consequence));
  if (!what.next.empty()) text += paragraph(kIndent, fmt::format("Next: {}", what.next));
  return text;
}

std::string titles_of_traffic() {
  return fmt::format("# {:>6}  {:<16} {:<12} {:>12} {:>12}  {}\n", "s", "host", "NIC", "sent GB/s", "rcvd GB/s",
                     "drops, errors, pauses");
}

std::string text_of(const PreflightTraffic& traffic) {
  std::string events;
  for (const PreflightEvent& each : traffic.events) events += fmt::format(" {} +{}", each.counter, each.grew_by);
  return fmt::format("{:>8.0f}  {:<16} {:<12} {:>12.3f} {:>12.3f} {}\n", traffic.at, printable(traffic.host),
                     traffic.nic, traffic.rate(traffic.tx_bytes) / 1e9, traffic.rate(traffic.rx_bytes) / 1e9, events);
}

/// Findings as they come; what could not be seen by check, and what is well in one line at the end.
class PreflightTable final : public Table {
 public:
  using Table::Table;

  void begin(const Context& context) override {
    context_ = context;
    if (context.options.output.quiet) return;
    output_.write(fmt::format("{}# Hosts: {}\n{}#\n", starting_lines(context), context.hosts, notice_lines(context)));
  }

  void record(const AnyRecord& record) override {
    if (const auto* finding = record.as<PreflightFinding>()) {
      output_.write(text_of(*finding, context_.hosts));
    } else if (const auto* unseen = record.as<PreflightUnseen>()) {
      output_.write(text_of(*unseen, context_.hosts));
    } else if (const auto* traffic = record.as<PreflightTraffic>()) {
      output_.write(std::exchange(has_titles_, true) ? text_of(*traffic) : titles_of_traffic() + text_of(*traffic));
    } else if (const auto* check = record.as<PreflightCheck>()) {
      count(*check);
    }
  }

  void end(const Ending& ending) override {
    std::string text;
    if (!ok_.empty()) text += paragraph("ok    ", fmt::format("on every host that has it: {}", fmt::join(ok_, ", ")));
    if (!absent_.empty()) text += paragraph("-     ", fmt::format("on no host: {}", fmt::join(absent_, ", ")));
    if (!context_.options.output.quiet) text += fmt::format("#\n# {}\n", ending.reason);
    output_.write(text);
  }

 private:
  void count(const PreflightCheck& check) {
    if (check.finding_hosts > 0 || check.unchecked_hosts > 0) return;
    (check.ok_hosts > 0 ? ok_ : absent_).push_back(check.check);
  }

  std::vector<std::string> ok_;
  std::vector<std::string> absent_;
  bool has_titles_ = false;
};

}  // namespace

std::unique_ptr<Sink> make_preflight_table(OutputFile output) {
  return std::make_unique<PreflightTable>(std::move(output));
}

}  // namespace fabricbench
