#include "common/core/options.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/rdma_option_specs.h"

namespace fabricbench {
namespace {

constexpr Seconds kSweepTimeBudget = 0.2;  // a direction of a pair: thousands of them follow each other

/// A key as it is typed.
std::string dashed(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

/// The options of a program that copies within hosts; all others are about messages between ranks.
bool is_of_copies(std::string_view key) {
  constexpr std::array<std::string_view, 16> kKeys = {
      "minbytes", "maxbytes", "stepbytes", "stepfactor", "iters", "warmup_iters", "epochs", "time_budget",
      "seed",     "timeout",  "check",     "device",     "json",  "csv",          "force",  "quiet"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

/// What the program that makes connections has besides its own.
bool is_of_connections(std::string_view key) {
  constexpr std::array<std::string_view, 9> kKeys = {"ib_dev",  "ib_port", "gid_index", "stall_timeout", "pairs",
                                                     "timeout", "json",    "force",     "quiet"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

}  // namespace

std::string OptionSpec::names_for(const ProgramFacts& program) const {
  if (program.verb == Verb::kNone || offered_by == OfferedBy::kVerbs) return names;
  const std::string_view letter = std::string_view(names).substr(0, names.find(','));
  return letter == "-n" || letter.starts_with("--") ? names : names.substr(names.find("--"));
}

std::string OptionSpec::long_name() const {
  const std::size_t start = names.find("--");
  return names.substr(start, names.find(',', start) - start);
}

std::string OptionSpec::key() const {
  std::string key = long_name().substr(2);
  for (char& character : key) {
    if (character == '-') character = '_';
  }
  return key;
}

bool OptionSpec::is_of(const ProgramFacts& program) const {
  if (program.connects) return offered_by == OfferedBy::kConnections || is_of_connections(key());
  if (program.copies) {
    return offered_by != OfferedBy::kSweeps && offered_by != OfferedBy::kVerbs &&
           offered_by != OfferedBy::kConnections && is_of_copies(key());
  }
  if (!only_for.empty()) return only_for == program.name;
  if (only_where && !only_where(program)) return false;
  const bool verbs = program.verb != Verb::kNone;
  switch (offered_by) {
    case OfferedBy::kAll: return true;
    case OfferedBy::kLibraries: return !program.sockets && !verbs;
    case OfferedBy::kSockets: return program.sockets;
    case OfferedBy::kRows: return !program.sweep;
    case OfferedBy::kRowsOfLibraries: return !program.sockets && !program.sweep && !verbs;
    case OfferedBy::kSweeps: return program.sweep;
    case OfferedBy::kCollectives: return !program.pairs && !program.sweep;
    case OfferedBy::kPairs: return program.pairs;
    case OfferedBy::kWindows: return program.windowed;
    case OfferedBy::kVerbs: return verbs;
    case OfferedBy::kConnections: return false;
  }
  return false;
}

Options default_options(const ProgramFacts& program) {
  Options options;
  if (program.copies) {
    options.sweep = {Bytes{256} << 20, Bytes{256} << 20, Bytes{1} << 20, 2};
    options.datatypes = {DataType::kInt8};
    options.placement = Placement::kOut;
    options.warmup = 1;
    options.time_budget = 0.2;  // of each copy, of which a host with eight GPUs has some hundred
    return options;
  }
  if (program.verb != Verb::kNone || program.connects) return default_rdma_options(program);
  if (!program.pairs && !program.sweep) return options;
  options.sweep = {1, Bytes{4} << 20, Bytes{1} << 20, 2};
  if (program.sweep) {
    options.sweep = {Bytes{1} << 20, Bytes{1} << 20, Bytes{1} << 20, 1};
    options.time_budget = kSweepTimeBudget;
  }
  options.datatypes = {DataType::kInt8};
  options.placement = Placement::kOut;
  return options;
}

void complete_options(const ProgramFacts& program, Options& options) {
  if (program.verb != Verb::kNone) complete_rdma_options(options);
}

void check_combinations(const ProgramFacts& program, const Options& options) {
  if (program.connects) check_connections(options);
  if (program.verb != Verb::kNone) check_rdma_combinations(program, options);
  const Sweep& sweep = options.sweep;
  if (sweep.min_bytes > sweep.max_bytes) {
    throw UsageError(fmt::format(
        "the first size, --min-bytes {}, is above the last, --max-bytes {}; raise --max-bytes or lower --min-bytes",
        exact_bytes(sweep.min_bytes), exact_bytes(sweep.max_bytes)));
  }
  if (sweep.step_factor == 1 && sweep.step_bytes == 0 && sweep.min_bytes < sweep.max_bytes) {
    throw UsageError(
        "--step-bytes 0 would repeat the first size for ever; give a step such as --step-bytes 1M, or a factor such as "
        "--step-factor 2");
  }
  for (const std::string& key : options.given) {
    if (options.iterations &&
        (key == "epochs" || key == "target_precision" || key == "time_budget" || key == "duration")) {
      throw UsageError(fmt::format("-n asks for exactly {} iterations, and {} for as many as it takes; leave out one",
                                   *options.iterations, dashed(key)));
    }
  }
  if (options.iterations && options.order == Order::kInterleaved) {
    throw UsageError("-n measures the sizes in order, and --order interleaved asks for the opposite; leave out one");
  }
  if (options.graph_launches > 0 &&
      (options.per_iteration || options.timing == Timing::kIsolated || options.blocking != Blocking::kNone)) {
    throw UsageError(
        "-G launches many iterations at once, which -I, -z and --timing isolated tell apart; leave out one");
  }
  if (options.graph_launches > 0 && options.null_stream) {
    throw UsageError("-G records streams, and CUDA cannot record the null stream that -y 1 asks for; leave out one");
  }
  if (options.timing == Timing::kIsolated && options.blocking != Blocking::kNone) {
    throw UsageError("-z is about operations back to back; --timing isolated times each by itself; leave out one");
  }
}

}  // namespace fabricbench
