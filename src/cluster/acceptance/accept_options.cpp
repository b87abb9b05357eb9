#include "cluster/acceptance/accept_options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/command/commands.h"
#include "cluster/command/launch_files.h"
#include "cluster/run/comparison.h"
#include "cluster/run/preset.h"
#include "common/core/error.h"
#include "common/host/files.h"
#include "common/options/command_line.h"

namespace fabricbench::acceptance {
namespace {

namespace fs = std::filesystem;
using cluster::CommandOptions;

constexpr std::array kActing = {"--agent",       "--programs", "--launcher",           "--mpi-options",
                                "--rails",       "--record",   "--prometheus",         "--baseline",
                                "--preset",      "--locality", "--collective-options", "--alone-options",
                                "--pair-options"};
constexpr std::array kOfOneCall = {"-H", "--hosts", "--hostfile", "--exclude", "--output"};

bool is_like(const std::string& text, const char* pattern) { return std::regex_match(text, std::regex(pattern)); }

bool is_positive(const std::string& text, const char* pattern) {
  return is_like(text, pattern) && text.find_first_of("123456789") != std::string::npos;
}

/// Throws UsageError, or Error (kMissing), unless that holds.
template <typename... Values>
void require(bool holds, fmt::format_string<const Values&...> message, const Values&... values) {
  if (!holds) throw UsageError(fmt::format(message, values...));
}
template <typename... Values>
void require_there(bool holds, fmt::format_string<const Values&...> message, const Values&... values) {
  if (!holds) throw Error(ExitStatus::kMissing, fmt::format(message, values...));
}

/// Declares the options of a run, and reads words into them.
class Reader {
 public:
  /// `folder`: whose words these are; empty: of this call.
  Reader(AcceptOptions& run, const cluster::CalledAs& called, std::string folder)
      : run_(run), folder_(std::move(folder)), options_(called, accept_help()) {
    declare_values();
    declare_numbers();
    options_.flag("--strict", [this] { run_.strict = true; });
    options_.flag("--keep-going", [this] { run_.plan.keeps_going = true; });
    options_.flag("--resident", [this] { run_.sweep_options.emplace_back("--resident"); });
    // Taken out before; for the name that is nearest to a wrong one.
    for (const char* const name : {"--resume", "--recheck", "--dry-run", "--nagios"}) options_.flag(name, [] {});
  }

  bool read(const Words& words) {
    if (!folder_.empty() && std::any_of(words.begin(), words.end(), cluster::asks_for_help)) options_.refuse("--help");
    if (!options_.read(words)) return false;
    if (!options_.words().empty()) options_.refuse(options_.words().front());
    if (!options_.behind().empty()) options_.refuse("--");
    return true;
  }

 private:
  void value(const char* name, std::function<void(const std::string& name, const std::string& value)> take) {
    options_.value(name, [this, take = std::move(take)](const std::string& option, const std::string& given) {
      if (is_taken(option, given)) take(option, given);
    });
  }
  void value(const char* name, std::string& into) {
    value(name, [&into](const std::string&, const std::string& given) { into = given; });
  }
  void words(const char* name, Words& into) {
    value(name, [&into](const std::string&, const std::string& given) { into = cluster::split_words(given); });
  }

  void declare_values() {
    for (const char* const name : {"-H", "--hosts"}) {
      value(name, [this](const std::string&, const std::string& given) { run_.hosts.list = given; });
    }
    value("--hostfile", [this](const std::string&, const std::string& given) { run_.hosts.hostfile = given; });
    value("--exclude", run_.hosts.exclude);
    value("--locality", run_.locality);
    value("--baseline", run_.baseline);
    value("--preset", run_.preset);
    value("--expect", run_.expect);
    value("--line-rate", run_.line_rate);
    value("--record", run_.record);
    value("--allow", run_.allow);
    value("--tolerance", run_.tolerance);
    value("--programs-to-run", run_.collectives);
    value("-b", run_.first_size);
    value("-e", run_.last_size);
    value("-f", run_.factor);
    words("--collective-options", run_.collective_options);
    words("--alone-options", run_.alone_options);
    words("--pair-options", run_.pair_options);
    for (const char* const name : {"--test", "--size", "--rails"}) {
      value(name, [this](const std::string& option, const std::string& given) {
        run_.sweep_options.insert(run_.sweep_options.end(), {option, given});
      });
    }
    value("--launcher", run_.launch.launcher);
    value("--agent", run_.launch.agent);
    words("--mpi-options", run_.launch.mpi_options);
    value("--programs", run_.programs_folder);
    value("--output", run_.output);
    value("--prometheus", run_.prometheus);
  }

  void declare_numbers() {
    const auto number = [this](const char* name, int& into) {
      value(name, [&into](const std::string& option, const std::string& given) {
        into = cluster::whole_number(option, given, 1);
      });
    };
    number("--ranks", run_.ranks);
    number("--at-once", run_.at_once);
    number("--timeout", run_.limit_s);
    for (const char* const name : {"--rounds", "--max-concurrent"}) {
      value(name, [this](const std::string& option, const std::string& given) {
        static_cast<void>(cluster::whole_number(option, given, 1));
        run_.sweep_options.insert(run_.sweep_options.end(), {option, given});
      });
    }
    value("--time", [this](const std::string& option, const std::string& given) {
      run_.plan.time_s = cluster::seconds_of(option, given);
      require(run_.plan.time_s > 0, "--time '{}' is not a time; give one such as 90s, 20m or 8h", given);
    });
  }

  /// Whether this run has the value: a folder's acting options are only compared.
  bool is_taken(const std::string& option, const std::string& given) {
    constexpr std::size_t kLongest = 10'000;
    require(!given.empty() || option.ends_with("-options"), "{} needs a value; run '{} --help'", option,
            options_.called().call);
    if (has(kActing, option)) (folder_.empty() ? run_.acting : run_.acting_of_folder)[option] = given;
    if (folder_.empty()) return true;
    if (has(kActing, option) || has(kOfOneCall, option)) return false;
    const bool has_control = std::any_of(given.begin(), given.end(), [](char letter) {
      return static_cast<unsigned char>(letter) < ' ' || letter == 0x7f;
    });
    require(!given.starts_with('-') && !has_control && given.size() < kLongest, "{} has {}, which is no value of {}",
            folder_, cluster::quoted({option, given}), option);
    return true;
  }

  AcceptOptions& run_;
  std::string folder_;
  CommandOptions options_;
};

/// Sets what figures are held against, and refuses options that exclude each other.
void choose_reference(AcceptOptions& run) {
  std::vector<std::string> given;
  for (const auto& [option, value, words] : {std::tuple<std::string, const std::string*, std::string>{
                                                 "--baseline", &run.baseline, "baseline " + run.baseline},
                                             {"--preset", &run.preset, "preset " + run.preset},
                                             {"--expect", &run.expect, "expectation"},
                                             {"--record", &run.record, ""}}) {
    if (value->empty()) continue;
    given.push_back(option);
    if (!words.empty()) run.held_against = words;
  }
  if (given.size() > 1) {
    throw UsageError(fmt::format("{} and {} exclude each other; give one of them", given[0], given[1]));
  }
  require(run.expect.empty() || is_positive(run.expect, "[0-9]{1,2}(\\.[0-9]+)?"),
          "--expect '{}' is not a share in percent; give one such as 80", run.expect);
  require(run.line_rate.empty() || is_positive(run.line_rate, "[0-9]+(\\.[0-9]+)?"),
          "--line-rate '{}' is not a rate in Gbit/s; give one such as 100", run.line_rate);
  require(run.line_rate.empty() || !run.expect.empty(),
          "--line-rate is for --expect; give the share that is required, such as --expect 80");
  require(!run.strict || !run.preset.empty(), "--strict belongs to --preset, which is not given");
}

void check_files(AcceptOptions& run) {
  if (!run.record.empty()) run.record = fs::weakly_canonical(fs::absolute(run.record)).string();
  const auto is_readable = [](const std::string& file) { return file.empty() || ::access(file.c_str(), R_OK) == 0; };
  const auto has_folder = [](const std::string& file) {
    return file.empty() || fs::is_directory(fs::absolute(file).parent_path());
  };
  require_there(is_readable(run.baseline), "--baseline '{}' cannot be read; record one with --record", run.baseline);
  require_there(is_readable(run.locality), "--locality '{}' cannot be read", run.locality);
  require_there(has_folder(run.prometheus), "--prometheus '{}': there is no such folder", run.prometheus);
  require_there(has_folder(run.record),
                "--record '{}': there is no such folder; make it on the host of each job's first rank", run.record);
}

/// The words between commas, without blanks around them.
std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = host::without_blanks(std::string_view(text).substr(begin, end - begin));
    if (!word.empty()) words.emplace_back(word);
    begin = end + 1;
  }
  return words;
}

void choose_plan(AcceptOptions& run) {
  constexpr std::string_view kPercent = "%";
  PlanSettings& plan = run.plan;
  if (run.tolerance.empty()) run.tolerance = fmt::format("{}", cluster::VerdictSettings().tolerance);
  require(is_like(run.tolerance, "0?\\.[0-9]+|[0-9]{1,2}(\\.[0-9]+)?%"),
          "--tolerance '{}' is not a share, such as 5% or 0.05", run.tolerance);
  plan.tolerance = std::stod(run.tolerance) / (run.tolerance.ends_with(kPercent) ? 100 : 1);
  require(is_like(run.collectives, "[a-z_]+_perf(,[a-z_]+_perf)*"),
          "--programs-to-run '{}' is not a list of collectives, such as all_reduce_perf,alltoall_perf",
          run.collectives);
  plan.programs = listed(run.collectives);
  plan.allowed = listed(run.allow);
}

/// The program's own reader says what is wrong with sizes.
void check_sizes(const AcceptOptions& run, const std::string& first, const std::string& last,
                 const std::string& factor) {
  const Program program = collective_program(run.first_program(), "");
  Words words = {"-b", first, "-e", last, "-d", "uint8"};
  if (!factor.empty()) words.insert(words.end(), {"-f", factor});
  static_cast<void>(parse_command_line(program, words));
}

/// The other hosts are assumed to have as many GPUs as this one.
void choose_sizes(AcceptOptions& run) {
  run.gpus = cluster::count_gpus();
  if (run.ranks == 0) run.ranks = std::max(run.gpus, 1);
  const auto choose = [&](std::string& size, const char* with_gpus, const char* without) {
    if (size.empty()) size = run.gpus > 0 ? with_gpus : without;
  };
  choose(run.first_size, "1M", "1K");
  choose(run.last_size, "1G", "64M");
  choose(run.factor, "32", "16");
  check_sizes(run, run.first_size, run.last_size, run.factor);
  for (std::size_t place = 1; place < run.sweep_options.size(); ++place) {
    const std::string& size = run.sweep_options[place];
    if (run.sweep_options[place - 1] == "--size") check_sizes(run, size, size, "");
  }
}

/// Keys of baselines, which are unknown here, are those of the launches in the baseline, and variables of this run.
void check_allowed(const AcceptOptions& run) {
  std::vector<std::string> known(kRunKeys.begin(), kRunKeys.end());
  for (const HostKey& key : kHostKeys) known.emplace_back(key.name);
  const std::string of_hosts =
      fmt::format("{} {}", fmt::join(known.begin() + kRunKeys.size(), known.end(), " "), fmt::join(kRunKeys, " "));
  for (const std::string& variable : cluster::forwarded_variables()) {
    known.insert(known.end(), {variable, "variable " + variable});
  }
  std::vector<std::string> others = run.plan.allowed;
  std::erase_if(others, [&](const std::string& key) { return has(known, key); });
  if (others.empty()) return;
  require(!run.launches.empty(),
          "--allow '{}' is not a key of hosts; use some of {}, or keys of a baseline, with --baseline", others.front(),
          of_hosts);
  static_cast<void>(baseline::compare(run.launches, std::span(run.launches).first(1), {{}, others}));
}

}  // namespace

CallOptions read_call(const Words& arguments) {
  constexpr std::string_view kResume = "--resume=";
  CallOptions call;
  for (std::size_t place = 0; place < arguments.size(); ++place) {
    const std::string& word = arguments[place];
    const std::size_t left = arguments.size() - place - 1;
    if (word.starts_with(kResume)) {
      call.folder = word.substr(kResume.size());
    } else if (word == "--resume") {
      require(left >= 1 && !arguments[place + 1].empty(), "--resume needs the folder of a run");
      call.folder = arguments[++place];
    } else if (word == "--recheck") {
      require(left >= 2, "--recheck needs hosts and the folder of a run, such as node07 results/accept-DATE");
      call.recheck_list = arguments[++place];
      call.folder = arguments[++place];
    } else if (word == "--dry-run") {
      call.dry_run = true;
    } else if (word == "--nagios") {
      call.nagios = true;
    } else {
      call.words.push_back(word);
    }
  }
  return call;
}

bool read_words(AcceptOptions& options, const Words& words, const cluster::CalledAs& called) {
  return Reader(options, called, "").read(words);
}

void read_stored_words(AcceptOptions& options, const Words& words, const cluster::CalledAs& called,
                       const std::string& folder) {
  static_cast<void>(Reader(options, called, folder).read(words));
}

Words words_of_shell(std::string_view text) {
  Words words;
  bool is_in_word = false;
  char quote = 0;
  for (std::size_t place = 0; place < text.size(); ++place) {
    const char letter = text[place];
    if (quote == 0 && (letter == ' ' || letter == '\t' || letter == '\n')) {
      is_in_word = false;
      continue;
    }
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    const bool is_escape = letter == '\\' && quote != '\'' && place + 1 < text.size() &&
                           (quote == 0 || text[place + 1] == '"' || text[place + 1] == '\\');
    if (is_escape) {
      words.back() += text[++place];
    } else if (quote == 0 && (letter == '\'' || letter == '"')) {
      quote = letter;
    } else if (letter == quote) {
      quote = 0;
    } else {
      words.back() += letter;
    }
  }
  if (quote != 0) throw std::invalid_argument("No closing quotation");
  return words;
}

std::string acting_words(const AcceptOptions& options) {
  Words words;
  for (const std::string name : kActing) {
    const auto value = options.acting.find(name);
    if (value != options.acting.end() && !value->second.empty()) words.insert(words.end(), {name, value->second});
  }
  return cluster::quoted(words);
}

void check_acting(const AcceptOptions& options, const std::string& folder) {
  const auto value_in = [](const Values& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  };
  Words missing;
  Words extra;
  for (const std::string name : kActing) {
    const std::string made_with = value_in(options.acting_of_folder, name);
    if (made_with == value_in(options.acting, name)) continue;
    if (made_with.empty()) {
      extra.push_back(name);
    } else {
      missing.insert(missing.end(), {name, made_with});
    }
  }
  require(missing.empty(), "{0} was made with {1}; give {1} too", folder, cluster::quoted(missing));
  require(extra.empty(), "{0} was made without {1}; leave {1} out, or begin a new run", folder,
          fmt::format("{}", fmt::join(extra, " ")));
}

void complete(AcceptOptions& options) {
  choose_reference(options);
  check_files(options);
  choose_plan(options);
  for (const std::string& program : options.plan.programs) {
    static_cast<void>(cluster::find_program(program, options.programs_folder));
  }
  if (!options.baseline.empty()) options.launches = cluster::launches_in(options.baseline);
  if (!options.record.empty() && fs::exists(options.record)) static_cast<void>(cluster::launches_in(options.record));
  check_allowed(options);
  choose_sizes(options);
  if (!options.preset.empty()) {
    static_cast<void>(
        expected::read_preset(expected::find_preset(options.preset, host::installed_folders("results/presets"))));
  }
  if (options.alone_options.empty()) options.alone_options = options.collective_options;
}

}  // namespace fabricbench::acceptance
