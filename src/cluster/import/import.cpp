#include "cluster/import/import.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/import/imported.h"
#include "cluster/import/logs.h"
#include "cluster/import/pair_name.h"
#include "cluster/import/text.h"
#include "cluster/import/tool_runs.h"

namespace fabricbench::cluster {
namespace {

struct Format {
  ImportKind kind;
  std::string_view name;
  bool (*is_of)(std::string_view text);
  Imported (*read)(const ImportSource& source);
  bool of_a_pair = false;
};

bool is_nccl_tests(std::string_view text) {
  return has_any(text, {"# nccl-tests version", "# rccl-tests version", "# Collective test starting", "# nThread "});
}

bool is_osu(std::string_view text) { return has(text, "# OSU "); }

bool is_perftest(std::string_view text) {
  return has_any(text, {" BW Test", "_BW_Test\"", "_Latency_Test\""}) ||
         (has(text, "#bytes") && has_any(text, {"BW average", "t_typical"}));
}

template <std::vector<ToolRun> (*Runs)(std::string_view)>
Imported read_runs(const ImportSource& source) {
  Imported found;
  add_runs(found, source, Runs(source.text));
  return found;
}

Imported read_perftest(const ImportSource& source) {
  if (has(source.text, "\"test_info\"")) return read_perftest_json(source);
  Imported found = read_runs<perftest_runs>(source);
  found.of_server = has(source.text, "Waiting for client to connect");
  return found;
}

/// Connections are `connected with` an end; with iperf3 they are `connected to` it.
bool is_iperf2(std::string_view text) {
  return has_any(text, {"Client connecting to ", "Server listening on TCP port ", "Server listening on UDP port "}) ||
         (has(text, "] local ") && has(text, " connected with "));
}

bool is_iperf3(std::string_view text) {
  return has_any(text, {"iperf3:", "iperf Done.", "\"iperf 3"}) ||
         (has_any(text, {"[ ID] Interval", "[ ID][Role] Interval"}) && has(text, "/sec") && !is_iperf2(text));
}

bool is_imb(std::string_view text) {
  return has_any(text, {"Intel(R) MPI Benchmark", "Intel (R) MPI Benchmark"}) ||
         (has(text, "# Benchmarking ") && has(text, "#repetitions"));
}

bool is_mpigraph(std::string_view text) { return has(text, "START mpiGraph"); }

bool is_hp2p(std::string_view text) { return has(text, "var hostlist =") && has(text, "var bandwidth ="); }

bool is_clusterkit(std::string_view text) {
  const bool matrix = text.starts_with("Rank:") || has(text, "\nRank:");
  return matrix || (trimmed(text).starts_with('{') && has(lower(text.substr(0, 1 << 16)), "clusterkit"));
}

constexpr std::array<Format, 10> kFormats = {{
    {ImportKind::kNcclTests, "nccl-tests", is_nccl_tests, read_runs<nccl_tests_runs>, true},
    {ImportKind::kOsu, "osu", is_osu, read_runs<osu_runs>, true},
    {ImportKind::kPerftest, "perftest", is_perftest, read_perftest, true},
    {ImportKind::kIperf3, "iperf3", is_iperf3, read_iperf3, true},
    {ImportKind::kIperf2, "iperf2", is_iperf2, read_iperf2, true},
    {ImportKind::kImb, "imb", is_imb, read_imb, true},
    {ImportKind::kMpiGraph, "mpigraph", is_mpigraph, read_mpigraph},
    {ImportKind::kHp2p, "hp2p", is_hp2p, read_hp2p},
    {ImportKind::kClusterKit, "clusterkit", is_clusterkit, read_clusterkit},
    {ImportKind::kCsv, "csv", is_csv, read_csv},
}};

/// What else people call them.
constexpr std::array<std::pair<std::string_view, ImportKind>, 13> kOtherNames = {{
    {"nccl", ImportKind::kNcclTests},
    {"nccl_tests", ImportKind::kNcclTests},
    {"rccl-tests", ImportKind::kNcclTests},
    {"osu_bw", ImportKind::kOsu},
    {"osu_bibw", ImportKind::kOsu},
    {"ib_write_bw", ImportKind::kPerftest},
    {"ib_read_bw", ImportKind::kPerftest},
    {"ib_send_bw", ImportKind::kPerftest},
    {"iperf", ImportKind::kIperf3},
    {"IMB", ImportKind::kImb},
    {"IMB-MPI1", ImportKind::kImb},
    {"mpiGraph", ImportKind::kMpiGraph},
    {"ClusterKit", ImportKind::kClusterKit},
}};

/// Words that only one tool prints, which is not read.
constexpr auto kUnreadTools = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"overhead (usec)", "ucx_perftest"},
    {"_bw:\n", "qperf"},
    {" port 0 AF_INET to ", "netperf"},
    {"sockperf: ", "sockperf"},
    {"nuttcp-t: ", "nuttcp"},
    {"nuttcp-r: ", "nuttcp"},
    {"%TX ", "nuttcp"},
    {"usec/xfer", "fabtests"},
    {"usec/iter", "ibv_rc_pingpong"},
    {"nvbandwidth Version", "nvbandwidth"},
    {"nvloom_cli ", "nvloom"},
    {"TransferBench v", "TransferBench"},
    {"NIXLBench Configuration", "nixlbench"},
});

const Format& format_of(ImportKind kind) { return kFormats[static_cast<std::size_t>(kind)]; }

}  // namespace

std::string_view name_of(ImportKind kind) { return format_of(kind).name; }

bool is_of_a_pair(ImportKind kind) { return format_of(kind).of_a_pair; }

std::string import_kind_names(std::string_view between) {
  std::vector<std::string_view> names;
  names.reserve(kFormats.size());
  for (const Format& format : kFormats) names.push_back(format.name);
  return fmt::format("{}", fmt::join(names, between));
}

std::optional<ImportKind> import_kind_named(std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return format.kind;
  }
  for (const auto& [other, kind] : kOtherNames) {
    if (other == name) return kind;
  }
  return std::nullopt;
}

std::vector<ImportKind> kinds_in(std::string_view text) {
  std::vector<ImportKind> found;
  for (const Format& format : kFormats) {
    if (!format.is_of(text)) continue;
    // iperf3's messages may stand in a log of another tool, where somebody looked whether its server is free.
    if (!found.empty() && format.kind == ImportKind::kIperf3 && !has_any(text, {"[ ID]", "\"start\""})) continue;
    found.push_back(format.kind);
  }
  return found;
}

std::optional<ImportKind> recognise(std::string_view text) {
  const std::vector<ImportKind> kinds = kinds_in(text);
  return kinds.size() == 1 ? std::optional(kinds.front()) : std::nullopt;
}

std::string_view unread_tool_of(std::string_view text) {
  const auto* const tool = std::ranges::find_if(kUnreadTools, [&](const auto& one) { return has(text, one.first); });
  return tool == kUnreadTools.end() ? std::string_view() : tool->second;
}

Imported import_results(ImportKind kind, const ImportSource& source) {
  const PlainLog log = without_labels(source.text);
  Imported found = format_of(kind).read({source.path, log.text, source.unit});
  if (!log.label.empty()) {
    found.notes.insert(found.notes.begin(),
                       {0, fmt::format("'{}' stands before lines, which is no known label", log.label)});
  }
  const PairRails rails = rails_in_name(source.path);
  for (Reading& reading : found.readings) {
    if (rails.from.empty() || reading.from_rail != 0 || reading.to_rail != 0) continue;
    reading.from_rail = found.rail_of(rails.from);
    reading.to_rail = found.rail_of(rails.to);
  }
  return found;
}

Imported import_unrecognised(const ImportSource& source) {
  Imported found;
  const auto pair = pair_in_name(source.path);
  const std::string plain = without_labels(source.text).text;
  const std::string wrong = wrong_data_in(plain);
  const std::string words = words_of_failure_in(plain);
  const bool of_a_tool = std::ranges::any_of(kFormats, [&](const Format& format) { return format.is_of(source.text); });
  if (of_a_tool) {
    found.note(0, "it has lines of several tools; give a log for each");
  } else if (pair && !wrong.empty()) {
    found.add_wrong(found.between(pair->from, pair->to, {}), fmt::format("'{}'", wrong));
  } else if (pair && !words.empty()) {
    found.add_failed(found.between(pair->from, pair->to, {}), words);
  } else if (pair) {
    found.note(0, why_it_failed(source.text));
  } else {
    found.note(0, fmt::format("its name does not contain the pair; {}", kHowToName));
  }
  return found;
}

}  // namespace fabricbench::cluster
