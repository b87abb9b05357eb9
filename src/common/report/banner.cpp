#include "common/report/banner.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/version.h"
#include "common/core/wording.h"
#include "common/record/columns.h"

namespace fabricbench {
namespace {

using record::field;
using record::Json;
using record::placements;
using record::Shown;
using record::TextColumn;
using record::TextTable;

const char* kind_of_test(RowKind row_kind) {
  if (row_kind == RowKind::kCopies) return "Copy test";
  if (row_kind == RowKind::kConnections) return "Connection test";
  if (row_kind == RowKind::kPreflight) return "Pre-flight";
  return row_kind == RowKind::kCollective ? "Collective test" : "Point-to-point test";
}

/// The part of a PCI address that nccl-tests prints: 0000:42:00 for 0000:42:00.0.
std::string pci_text(const GpuFacts& gpu) { return gpu.pci.substr(0, gpu.pci.rfind('.')); }

std::string gpu_line(const RankFacts& rank) {
  const GpuFacts& gpu = *rank.gpu;
  std::string node = "NUMA node unknown";
  if (gpu.numa_node) {
    node = fmt::format("NUMA node {}, process there: {}", *gpu.numa_node, gpu.process_on_node);
  }
  return fmt::format("#    Rank {}: driver {}; {}; nearest NICs: {}\n", rank.rank, gpu.driver, node,
                     gpu.nearest_nics.empty() ? "none seen" : fmt::format("{}", fmt::join(gpu.nearest_nics, ", ")));
}

/// The first and second part of `a, b`; the same part twice if there is only one.
std::pair<std::string_view, std::string_view> halves(std::string_view text) {
  constexpr std::string_view kBetween = ", ";
  const std::size_t comma = text.find(kBetween);
  if (comma == std::string_view::npos) return {text, text};
  return {text.substr(0, comma), text.substr(comma + kBetween.size())};
}

/// A note in lines that fit into a wide terminal.
std::string note_lines(const std::string& note) {
  constexpr std::size_t kColumns = 120;
  constexpr std::string_view kBegin = "# Note: ";
  return fmt::format("{}{}\n", kBegin, fmt::join(wrapped(note, kColumns - kBegin.size()), "\n#       "));
}

std::string host_of(const Context& context, int group, int group_rank) {
  for (const RankFacts& rank : context.ranks) {
    if (rank.group == group && rank.group_rank == group_rank) return rank.host;
  }
  return "";
}

/// `RING/SIMPLE/16`; null if the library does not tell.
Json chosen(const Json& measured) {
  const Json& choice = measured.at("choice");
  if (choice.is_null()) return choice;
  const Json& channels = choice.at("channels");
  return fmt::format("{}/{}{}", choice.at("algorithm").get<std::string>(), choice.at("protocol").get<std::string>(),
                     channels.is_null() ? "" : fmt::format("/{}", channels.get<int>()));
}

/// The field with this number of decimals.
Shown rounded(std::string_view key, int decimals) {
  return [key = std::string(key), decimals](const Json& measured) -> Json {
    const Json& value = measured.at(key);
    if (value.is_null()) return value;
    return fmt::format("{:.{}f}", value.get<double>(), decimals);
  };
}

Json preempted(const Json& measured) {
  if (measured.at("preemptions").is_null()) return nullptr;
  return fmt::format("{}@{}", measured.at("preemptions").get<std::int64_t>(),
                     measured.at("most_preempted_rank").get<int>());
}

Json slowest_rank(const Json& measured) {
  if (measured.at("slowest_rank").is_null()) return nullptr;
  return fmt::format("{} ({:.0f}%) {}", measured.at("slowest_rank").get<int>(),
                     100 * measured.at("slowest_rank_share").get<double>(), measured.at("host").get<std::string>());
}

/// What a line is about. The columns show a measurement in one placement, with its row as `row`.
std::vector<TextColumn> with_case(RowKind row_kind, std::vector<TextColumn> columns) {
  std::vector<TextColumn> all = {{"size", "", 12, field("/row/size_bytes")}};
  if (!is_of_pairs(row_kind)) all.push_back({"place", "", 5, field("/placement")});
  all.insert(all.end(), std::move_iterator(columns.begin()), std::move_iterator(columns.end()));
  return all;
}

std::vector<TextColumn> time_columns() {
  return {{"median", "", 8, field("/time_us_median")},
          {"low", "", 8, field("/time_us_interval/low_us")},
          {"high", "", 8, field("/time_us_interval/high_us")},
          {"min", "", 8, field("/time_us_min")},
          {"p95", "", 8, field("/time_us_p95")},
          {"p99", "", 8, field("/time_us_p99")},
          {"p99.9", "", 8, field("/time_us_p999")},
          {"max", "", 8, field("/time_us_max")}};
}

std::vector<TextColumn> sample_columns() {
  return {{"epochs", "", 6, field("/epochs")},
          {"samples", "", 7, field("/samples")},
          {"out", "", 4, field("/outliers")},
          {"late", "", 4, field("/late_starts")},
          {"drift%", "", 6, rounded("drift_percent", 1)},
          {"corr", "", 5, rounded("sign_autocorrelation", 2)},
          {"preempt", "", 7, preempted},
          {"chosen", "", 6, chosen},
          {"slowest", "", 0, slowest_rank}};
}

std::string explanation_of_times(RowKind row_kind) {
  return fmt::format(
      "#\n# Statistics: times in us of one {}\n"
      "#   median: of the epochs' medians; low, high: its 95 % interval; -: too few epochs\n"
      "#   min, p95, p99, p99.9, max: of all samples; -: too few samples\n",
      is_of_pairs(row_kind) ? "message" : "operation");
}

constexpr std::string_view kExplanationOfSamples =
    "#\n# Statistics: samples\n"
    "#   epochs: measurement rounds; samples: times taken in them; out: those far above the others, still counted\n"
    "#   late: times left out, because a rank started late (--timing isolated)\n"
    "#   drift%: rise of the epochs' medians over the run; corr: near 0 for independent samples, near 1 for clusters\n"
    "#   preempt: involuntary context switches of all ranks@rank with most; chosen: algorithm/protocol/channels\n"
    "#   slowest: rank that finished last in most samples (its share of them) and its host; it may only have waited "
    "for\n"
    "#     another one: pairwise_bw --find tells which host or link is slow\n";

/// Such as `float sum`.
std::string kind_of(const Row& row) {
  std::string kind(facts(row.datatype).name);
  if (row.reduction != Reduction::kNone) kind += fmt::format(" {}", name(row.reduction));
  return kind;
}

/// A line for each row and placement, below the name of each group of several, and of each kind of data of several.
std::string lines_of(const Context& context, std::span<const Row> rows, const TextTable& table) {
  const bool several_kinds =
      std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return kind_of(row) != kind_of(rows.front()); });
  std::string text = table.titles();
  int group = -1;
  std::string kind;
  for (const Row& row : rows) {
    const bool new_group = context.groups.size() > 1 && row.group != std::exchange(group, row.group);
    if (new_group) text += group_line(context, row.group);
    const bool new_kind = kind_of(row) != std::exchange(kind, kind_of(row));
    if (several_kinds && (new_group || new_kind)) text += fmt::format("#  {}\n", kind);
    for (Json& measured : placements(row)) {
      const Json& slowest = measured.at("slowest_rank");
      if (!slowest.is_null()) measured["host"] = host_of(context, row.group, slowest.get<int>());
      std::string line = table.line(measured);
      line.front() = '#';
      text += line;
    }
  }
  return text;
}

bool of_one_case(const Row& a, const Row& b) {
  return a.size == b.size && a.count == b.count && a.datatype == b.datatype && a.reduction == b.reduction &&
         a.root == b.root;
}

bool has_pair(const std::vector<Row>& rows, int pair) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.group == pair; });
}

void sort_by_pair(std::vector<Row>& rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.group < b.group; });
}

}  // namespace

std::string starting_lines(const Context& context) {
  return fmt::format("# fabricbench version {}\n# {} starting: {}\n", kVersion, kind_of_test(context.row_kind),
                     context.program);
}

std::string backend_lines(const Context& context) {
  const Options& options = context.options;
  const std::string clock = context.clock_error > 0 ? readable_seconds(context.clock_error) : "0 (one clock)";
  const std::string text =
      fmt::format("# Backend: {}, because {}; {}\n", context.backend, context.backend_reason, context.library);
  return text +
         fmt::format("# Ranks: {}, hosts: {}; timing: {}; buffers: {}; clock error: {}; clock read: {}; seed: {}\n",
                     context.ranks.size(), context.hosts, name(options.timing), name(options.buffers), clock,
                     readable_seconds(context.timer_cost), context.seed);
}

std::string method_lines(const Context& context, std::string_view meaning) {
  const Options& options = context.options;
  std::string text = backend_lines(context);
  if (options.iterations) {
    text += fmt::format("# Method: {} iterations a size, sizes in order; ", *options.iterations);
  } else {
    text += fmt::format("# Method: at least {} epochs a size, sizes {}; ", options.epochs,
                        options.order == Order::kSequential ? "in order" : "at random");
  }
  return text + fmt::format("{}\n", meaning);
}

std::string device_lines(const Context& context) {
  std::string text = "#\n# Using devices\n";
  for (const RankFacts& rank : context.ranks) {
    text += fmt::format("#  Rank {:2} Group {:2} Pid {:6} on {:>10} device {:2} [{}] {}\n", rank.rank, rank.group,
                        rank.pid, rank.host, rank.gpu ? rank.gpu->device : rank.local_rank,
                        rank.gpu ? pci_text(*rank.gpu) : "host", rank.gpu ? rank.gpu->model : rank.processor);
  }
  for (const RankFacts& rank : context.ranks) {
    if (rank.gpu) text += gpu_line(rank);
  }
  return text;
}

std::string notice_lines(const Context& context) {
  std::string text;
  for (const std::string& notice : context.notices) text += fmt::format("#\n# {}\n", notice);
  return text;
}

std::string pair_text(const Context& context, int pair) {
  const GroupFacts& facts = context.groups[static_cast<std::size_t>(pair)];
  const auto [first, second] = halves(facts.ranks);
  const auto [first_host, second_host] = halves(facts.hosts);
  const auto [first_port, second_port] = halves(facts.ports);
  const auto in_brackets = [](std::string_view port) { return port.empty() ? "" : fmt::format(" ({})", port); };
  return fmt::format("rank {} of host {}{} -> rank {} of host {}{}", first, first_host, in_brackets(first_port), second,
                     second_host, in_brackets(second_port));
}

std::string group_line(const Context& context, int group) {
  if (context.row_kind != RowKind::kCollective)
    return fmt::format("# Pair {:2}: {}\n", group, pair_text(context, group));
  const GroupFacts& facts = context.groups[static_cast<std::size_t>(group)];
  return fmt::format("# Group {}: ranks {}; hosts {}\n", group, facts.ranks, facts.hosts);
}

std::string skipped_line(const Row& row, RowKind row_kind) {
  std::string data;
  if (!is_of_pairs(row_kind)) data = fmt::format(", {}", facts(row.datatype).name);
  if (row.reduction != Reduction::kNone) data += fmt::format(" {}", name(row.reduction));
  return fmt::format("# skipped: {} bytes{}: {}\n", row.size, data, row.skipped);
}

std::string ended_early_line(const Context& context, const Ending& ending) {
  return context.program.empty() ? "" : fmt::format("# Ended early: {}\n", ending.reason);
}

std::string wrong_line(const Ending& ending) {
  return fmt::format("# {:<20} : {} {}\n", "Out of bounds values", ending.wrong_checks,
                     ending.wrong_checks == 0 ? "OK" : "FAILED");
}

std::string concluding_lines(const Context& context, const Ending& ending, std::string_view statistics) {
  const bool quiet = context.options.output.quiet;
  std::string text;
  if (!quiet) {
    text += "#\n";
    for (const std::string& note : printed_notes(ending)) text += note_lines(note);
    for (const std::string& line : ending.nics) text += fmt::format("# {}\n", line);
    for (const std::string& line : printed_processors(ending)) text += fmt::format("# {}\n", line);
    text += fmt::format("# {}\n", ending.precision);
  }
  for (const std::string& line : ending.baseline) {
    const bool of_titles = line.starts_with('#');
    text += fmt::format("#{}{}\n", of_titles ? "  " : " ", std::string_view(line).substr(of_titles ? 1 : 0));
  }
  text += statistics;
  if (!quiet) text += fmt::format("#\n# {} concluded: {}\n", kind_of_test(context.row_kind), context.program);
  if (!ending.memory_usage.empty()) text += fmt::format("# {:<20} : {}\n", "GPU memory usage", ending.memory_usage);
  if (!quiet) text += "#\n\n";
  return text;
}

std::vector<std::string> printed_processors(const Ending& ending) {
  constexpr std::size_t kMost = 16;
  return shortened(ending.processors, kMost, "more hosts, in the JSON file");
}

std::vector<std::string> printed_notes(const Ending& ending) {
  constexpr std::size_t kMost = 256;
  return shortened(ending.notes, kMost, "more notes, in the JSON file");
}

std::string wrong_text(const Measurement& measured) {
  return measured.wrong ? fmt::format("{:g}", static_cast<double>(*measured.wrong)) : "N/A";
}

std::string timestamp(std::time_t time) { return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(time)); }

std::string statistics_table(const Context& context, std::span<const Row> rows) {
  return explanation_of_times(context.row_kind) +
         lines_of(context, rows, TextTable(with_case(context.row_kind, time_columns()), fitted)) +
         std::string(kExplanationOfSamples) +
         lines_of(context, rows, TextTable(with_case(context.row_kind, sample_columns()), fitted));
}

std::vector<Row> PairRows::add(Row row) {
  row.out_of_place->samples = {};  // no table needs them, and there may be many
  auto rows = std::find_if(pending_.begin(), pending_.end(), [&](const std::vector<Row>& others) {
    return of_one_case(others.front(), row) && !has_pair(others, row.group);
  });
  if (rows == pending_.end()) rows = pending_.insert(rows, std::vector<Row>());
  rows->push_back(std::move(row));
  if (rows->size() < pairs_) return {};
  std::vector<Row> complete = std::move(*rows);
  pending_.erase(rows);
  sort_by_pair(complete);
  return complete;
}

std::vector<std::vector<Row>> PairRows::take_rest() {
  for (std::vector<Row>& rows : pending_) sort_by_pair(rows);
  return std::exchange(pending_, {});
}

}  // namespace fabricbench
