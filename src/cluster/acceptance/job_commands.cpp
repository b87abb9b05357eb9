#include "cluster/acceptance/job_commands.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/commands.h"

namespace fabricbench::acceptance {
namespace {

namespace fs = std::filesystem;

using cluster::append;

}  // namespace

JobCommands::JobCommands(const AcceptOptions& options, const cluster::Launcher& launcher, fs::path scratch)
    : options_(options), launcher_(launcher), scratch_(std::move(scratch)) {}

cluster::JobShape JobCommands::shape_of(const Words& hosts, int limit_s) const {
  cluster::JobShape shape;
  shape.hosts = hosts;
  shape.ranks = hosts.size() == 1 ? std::max(options_.ranks, 2) : options_.ranks;
  shape.limit_s = limit_s;
  return shape;
}

int JobCommands::grace_s(int limit_s) const { return launcher_.grace_s(shape_of({}, limit_s)); }

cluster::Command JobCommands::job(const std::string& program, const Words& hosts, int limit_s,
                                  const fs::path& folder) const {
  cluster::JobShape shape = shape_of(hosts, limit_s);
  shape.folder = folder;
  Words words = {cluster::find_program(program, options_.programs_folder)};
  append(words, {"-b", options_.first_size, "-e", options_.last_size, "-f", options_.factor});
  append(words, {"-T", std::to_string(limit_s * 2 / 3 + 1)});
  if (hosts.size() == 1) {
    if (options_.gpus > 0 && shape.ranks > options_.gpus) append(words, {"--backend", "mpi"});
    append(words, options_.alone_options);
  } else {
    append(words, options_.collective_options);
    if (!options_.preset.empty()) append(words, {"--preset", options_.preset});
    if (options_.strict) words.emplace_back("--strict");
    if (!options_.expect.empty()) append(words, {"--expect", options_.expect});
    if (!options_.line_rate.empty()) append(words, {"--line-rate", options_.line_rate});
  }
  if (!options_.record.empty()) append(words, {"--record", options_.record});
  // Rank 0's host may share no files with this one, so its JSON comes over standard output.
  append(words, {"--quiet", "--json", "/dev/stdout", "--force"});
  return launcher_.command(shape, words);
}

cluster::Command JobCommands::sweep(const fs::path& folder, const std::string& records, const Words& hosts) const {
  std::error_code error;
  const fs::path file = folder / records;
  Words words = {cluster::programs_folder() + "/fabricbench", "sweep"};
  append(words, {"--records", file.string(), "--logs", (folder / "logs").string()});
  append(words, {"--timeout", std::to_string(options_.limit_s), "--tolerance", options_.tolerance});
  append(words, {"--launcher", options_.launch.launcher, "--find"});
  append(words, options_.sweep_options);
  if (const auto size = fs::file_size(file, error); !error && size > 0) {
    words.emplace_back("--resume");
  } else {
    const fs::path list = scratch_ / "pair_hosts";
    cluster::write_text(list, fmt::format("{}\n", fmt::join(hosts, "\n")));
    append(words, {"--hostfile", list.string()});
    if (!options_.locality.empty()) append(words, {"--locality", options_.locality});
  }
  if (!options_.launch.agent.empty()) append(words, {"--agent", options_.launch.agent});
  if (!options_.programs_folder.empty()) append(words, {"--programs", options_.programs_folder});
  if (!options_.launch.mpi_options.empty()) {
    append(words, {"--mpi-options", fmt::format("{}", fmt::join(options_.launch.mpi_options, " "))});
  }
  const bool is_open =
      options_.gpus == 0 && !has(options_.sweep_options, "--resident") && !has(options_.sweep_options, "--test");
  if (is_open && hosts.size() > kManyHosts) words.emplace_back("--resident");
  if (!options_.pair_options.empty()) {
    words.emplace_back("--");
    append(words, options_.pair_options);
  }
  return {{}, words};
}

}  // namespace fabricbench::acceptance
