#include "common/report/banner.h"

#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/shortened_list.h"
#include "common/core/version.h"
#include "common/core/wrapped.h"

namespace fabricbench {
namespace {

const char* kind_of_test(Figure figure) {
  if (figure == Figure::kCopies) return "Copy test";
  if (figure == Figure::kConnections) return "Connection test";
  return figure == Figure::kCollective ? "Collective test" : "Point-to-point test";
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

}  // namespace

std::string starting_lines(const Context& context) {
  return fmt::format("# fabricbench version {}\n# {} starting: {}\n", kVersion, kind_of_test(context.figure),
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
  if (context.figure != Figure::kCollective) return fmt::format("# Pair {:2}: {}\n", group, pair_text(context, group));
  const GroupFacts& facts = context.groups[static_cast<std::size_t>(group)];
  return fmt::format("# Group {}: ranks {}; hosts {}\n", group, facts.ranks, facts.hosts);
}

std::string skipped_line(const Row& row, Figure figure) {
  std::string data;
  if (!is_of_pairs(figure)) data = fmt::format(", {}", facts(row.datatype).name);
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
  const bool quiet = context.options.quiet;
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
  if (!quiet) text += fmt::format("#\n# {} concluded: {}\n", kind_of_test(context.figure), context.program);
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

}  // namespace fabricbench
