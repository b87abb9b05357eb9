#include "common/backends/rdma/adapter_affinity.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/error.h"
#include "common/core/wording.h"
#include "common/ranks/agreement.h"

namespace fabricbench {
namespace {

std::string link_text(const host::PciLink& link) {
  return fmt::format("{:g} GT/s x{}", link.gigatransfers_per_s, link.width);
}

const char* move_text(const AdapterAffinity& place) {
  switch (place.move) {
    case Move::kThreads: return "threads moved there";
    case Move::kBoth: return "threads and host buffers moved there";
    case Move::kNone: break;
  }
  return place.binding == host::NodeBinding::kInside ? "the rank was there already" : "the rank stays where it was";
}

AdapterAffinity look_at(int rank, const std::string& host, const std::string& device, const RdmaOptions& options) {
  AdapterAffinity place{rank, host, device};
  const std::string address = host::pci_address_of_rdma_device(device);
  if (!address.empty()) {
    place.adapter_node = host::pci_locality(address).numa_node;
    place.links = host::pci_links(address);
  }
  if (options.numa_node >= 0) place.wanted_node = static_cast<int>(options.numa_node);
  if (options.numa_node < 0 && options.near_adapter) place.wanted_node = place.adapter_node;
  place.processors = host::current_binding();
  const auto node = place.wanted_node ? place.wanted_node : place.adapter_node;
  if (node) place.binding = host::node_binding(*node, place.processors);
  if (options.numa_node < 0 || place.binding != host::NodeBinding::kUnknown) return place;
  throw UsageError(
      fmt::format("--numa {}: host {} has no such NUMA node (numactl --hardware lists them)", options.numa_node, host));
}

/// Moves this process near the wanted node if its launcher lets it run there, among other places.
std::unique_ptr<host::NearNode> move_near(AdapterAffinity& place) {
  if (!place.wanted_node || place.binding == host::NodeBinding::kOutside) return nullptr;
  const std::string units = host::units_on_node(*place.wanted_node, place.processors);
  if (units.empty()) return nullptr;
  try {
    auto near = std::make_unique<host::NearNode>(*place.wanted_node, units);
    if (place.binding == host::NodeBinding::kPartly) place.move = near->has_memory() ? Move::kBoth : Move::kThreads;
    return near;
  } catch (const std::exception&) {  // a container may forbid it, which is no reason to end
    return nullptr;
  }
}

/// A line for each text of the places, with the ranks that have it.
std::vector<std::string> place_lines(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::vector<int>>> lines;  // text and ranks
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank].empty()) continue;
    std::size_t line = 0;
    while (line < lines.size() && lines[line].first != texts[rank]) ++line;
    if (line == lines.size()) lines.emplace_back(texts[rank], std::vector<int>());
    lines[line].second.push_back(static_cast<int>(rank));
  }
  std::vector<std::string> notices;
  notices.reserve(lines.size());
  for (const auto& [text, ranks] : lines) {
    notices.push_back(fmt::format("Place of rank{} {}: {}", ranks.size() > 1 ? "s" : "", folded(ranks), text));
  }
  return notices;
}

/// The lines of all texts, each once.
std::vector<std::string> distinct_lines(const std::vector<std::string>& texts) {
  std::vector<std::string> lines;
  std::set<std::string> known;
  for (const std::string& text : texts) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      std::string line = text.substr(begin, end - begin);
      if (known.insert(line).second) lines.push_back(std::move(line));
      begin = end + 1;
    }
  }
  return lines;
}

}  // namespace

std::string text_of(const AdapterAffinity& place) {
  std::string text =
      fmt::format("{} on {}", place.device,
                  place.adapter_node ? fmt::format("NUMA node {}", *place.adapter_node) : "an unknown NUMA node");
  if (place.links.current) text += fmt::format(", PCIe {}", link_text(*place.links.current));
  if (place.wanted_node && place.wanted_node != place.adapter_node)
    text += fmt::format("; NUMA node {} asked for", *place.wanted_node);
  if (place.wanted_node) text += fmt::format("; {}", move_text(place));
  return text;
}

std::vector<std::string> warnings_of(const AdapterAffinity& place) {
  std::vector<std::string> warnings;
  const auto& [current, most, narrowest] = place.links;
  if (current && most && bytes_per_second(*current) < bytes_per_second(*most)) {
    warnings.push_back(fmt::format(
        "The PCIe link of {} of host {} runs at {}, and the device can do {}: check its slot and riser, and reseat it",
        place.device, place.host, link_text(*current), link_text(*most)));
  }
  if (current && narrowest && bytes_per_second(*narrowest) < bytes_per_second(*current)) {
    warnings.push_back(fmt::format("A PCIe link above {} of host {} runs at {}, below the {} of the device itself",
                                   place.device, place.host, link_text(*narrowest), link_text(*current)));
  }
  if (place.binding == host::NodeBinding::kOutside) {
    const int node = place.wanted_node ? *place.wanted_node : *place.adapter_node;
    warnings.push_back(fmt::format(
        "Rank {} on host {} may run on processors {} only, away from NUMA node {} of {}, and is not moved: start with "
        "mpirun --bind-to none (srun --cpu-bind=none), or bind it to that node",
        place.rank, place.host, place.processors, node, place.device));
  }
  return warnings;
}

ProcessBinding bind_near_device(const mpi::Communicator& job, const std::string& host, const std::string& device,
                                const RdmaOptions& options) {
  constexpr std::size_t kMostLines = 16;  // in the banner
  ProcessBinding bound;
  auto place =
      everywhere(job, [&] { return device.empty() ? AdapterAffinity{} : look_at(job.rank(), host, device, options); });
  if (!device.empty()) bound.near = move_near(place);
  const bool speaks = !device.empty() && (place.adapter_node || place.wanted_node || place.links.current);
  bound.notices =
      shortened(place_lines(all_gather(job, speaks ? text_of(place) : "")), kMostLines, "more places of ranks");
  const std::string warnings = fmt::format("{}", fmt::join(warnings_of(place), "\n"));
  for (std::string& line : shortened(distinct_lines(all_gather(job, warnings)), kMostLines, "more warnings on places"))
    bound.notices.push_back(std::move(line));
  return bound;
}

}  // namespace fabricbench
