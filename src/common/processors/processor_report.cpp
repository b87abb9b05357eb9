#include "common/processors/processor_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/wording.h"

namespace fabricbench {
namespace {

constexpr std::size_t kMostWarnings = 8;

/// `rank 0 on 3 (NUMA node 0)`; many processors are only counted.
std::string place_text(const ProcessAffinity& place) {
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> processors;
  std::set<int> numa_nodes;
  for (const SeenOn& seen : place.seen) {
    processors.push_back(fmt::format("{}", seen.processor));
    numa_nodes.insert(seen.numa_node);
  }
  std::vector<std::string> nodes;
  nodes.reserve(numa_nodes.size());
  for (const int node : numa_nodes) nodes.push_back(fmt::format("{}", node));
  return fmt::format(
      "rank {} on {} (NUMA node{} {})", place.rank,
      processors.size() > kMostNamed ? fmt::format("{} different ones", processors.size()) : enumerated(processors),
      nodes.size() > 1 ? "s" : "", enumerated(nodes));
}

/// The processor where a process was in most readings; null if it was nowhere that often.
const SeenOn* usual_place(const ProcessAffinity& place) {
  std::int64_t readings = 0;
  for (const SeenOn& seen : place.seen) readings += seen.readings;
  for (const SeenOn& seen : place.seen) {
    if (2 * seen.readings > readings) return &seen;
  }
  return nullptr;
}

std::string shared_text(const SharedProcessor& shared) {
  return fmt::format(
      "Both ends of pair {}, ranks {} and {} of host {}, ran on processor {} in {} of {} readings and took turns: "
      "figures differ from those with a processor each, which mpirun --bind-to core or srun --cpu-bind=cores give "
      "if the job may use enough processors",
      shared.pair, shared.first_rank, shared.second_rank, shared.host, shared.processor, shared.shared,
      shared.readings);
}

/// Adds readings to those of the same processor.
void add_readings(std::vector<SeenOn>& all, const std::vector<SeenOn>& more) {
  std::map<int, SeenOn> by_processor;
  for (const std::vector<SeenOn>* const list : {&std::as_const(all), &more}) {
    for (const SeenOn& seen : *list) {
      SeenOn& sum = by_processor.try_emplace(seen.processor, SeenOn{seen.processor, seen.numa_node, 0}).first->second;
      sum.readings += seen.readings;
    }
  }
  all.clear();
  for (const auto& [processor, sum] : by_processor) all.push_back(sum);
}

/// Adds the entries for which there is none yet.
template <typename List, typename Same>
void add_new(List& all, const List& more, Same same) {
  for (const auto& entry : more) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const auto& other) { return same(other, entry); });
    if (!known) all.push_back(entry);
  }
}

}  // namespace

void ProcessorReport::add(const ProcessorReport& later) {
  std::map<int, std::size_t> known;
  for (std::size_t i = 0; i < processes.size(); ++i) known[processes[i].rank] = i;
  for (const ProcessAffinity& place : later.processes) {
    const auto [entry, is_new] = known.emplace(place.rank, processes.size());
    if (is_new) {
      processes.push_back(place);
    } else {
      add_readings(processes[entry->second].seen, place.seen);
    }
  }
  add_new(shared, later.shared, [](const auto& a, const auto& b) { return a.pair == b.pair; });
  add_new(interrupts, later.interrupts, [](const auto& a, const auto& b) {
    return a.host == b.host && a.device == b.device && a.processor == b.processor;
  });
}

void ProcessorReport::add_to(Ending& ending) const {
  ending.processors = processor_lines(processes);
  for (std::string& warning : processor_warnings(*this)) ending.notes.push_back(std::move(warning));
}

std::optional<SharedProcessor> shared_processor(int pair, const ProcessorSamples& first,
                                                const ProcessorSamples& second) {
  if (first.host_id != second.host_id) return std::nullopt;
  const std::size_t readings = std::min(first.processors.size(), second.processors.size());
  std::map<int, std::int64_t> times;
  std::int64_t shared = 0;
  for (std::size_t i = 0; i < readings; ++i) {
    if (first.processors[i] != second.processors[i]) continue;
    ++times[first.processors[i]];
    ++shared;
  }
  if (2 * shared <= static_cast<std::int64_t>(readings)) return std::nullopt;
  const auto most = std::max_element(times.begin(), times.end(),
                                     [](const auto& one, const auto& other) { return one.second < other.second; });
  return SharedProcessor{
      pair, first.rank, second.rank, first.host, most->first, shared, static_cast<std::int64_t>(readings)};
}

std::vector<std::string> processor_lines(const std::vector<ProcessAffinity>& processes) {
  std::vector<std::string> hosts;  // in the order of their first ranks
  std::map<std::string, std::vector<std::string>> texts;
  std::vector<const ProcessAffinity*> by_rank;
  by_rank.reserve(processes.size());
  for (const ProcessAffinity& place : processes) by_rank.push_back(&place);
  std::sort(by_rank.begin(), by_rank.end(), [](const auto* a, const auto* b) { return a->rank < b->rank; });
  for (const ProcessAffinity* const place : by_rank) {
    if (place->seen.empty()) continue;
    std::vector<std::string>& of_host = texts[place->host];
    if (of_host.empty()) hosts.push_back(place->host);
    of_host.push_back(place_text(*place));
  }
  std::vector<std::string> lines;
  lines.reserve(hosts.size());
  for (const std::string& host : hosts)
    lines.push_back(fmt::format("Processors: host {}: {}", host, fmt::join(texts[host], ", ")));
  return lines;
}

std::vector<std::string> processor_warnings(const ProcessorReport& report) {
  std::vector<std::string> warnings;
  warnings.reserve(report.shared.size());
  for (const SharedProcessor& shared : report.shared) warnings.push_back(shared_text(shared));
  std::map<std::pair<std::string, int>, const BusyInterrupts*> busy;
  for (const BusyInterrupts& interrupts : report.interrupts)
    busy.try_emplace({interrupts.host, interrupts.processor}, &interrupts);
  for (const ProcessAffinity& place : report.processes) {
    const SeenOn* const usual = usual_place(place);
    const auto found = usual == nullptr ? busy.end() : busy.find({place.host, usual->processor});
    if (found == busy.end()) continue;
    warnings.push_back(
        fmt::format("Rank {} of host {} ran on processor {}, which also handled {:.0f} interrupts of {} a second: bind "
                    "the rank to another processor, or change smp_affinity_list of these interrupts",
                    place.rank, place.host, usual->processor, found->second->per_second, found->second->device));
  }
  return shortened(std::move(warnings), kMostWarnings, "more processors that were shared");
}

}  // namespace fabricbench
