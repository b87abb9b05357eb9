#include "cluster/command/command_options.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <regex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/launch/launcher.h"
#include "common/core/error.h"
#include "common/core/names.h"
#include "common/core/plain_text.h"
#include "common/core/script_command.h"
#include "common/core/units.h"
#include "common/host/crash_message.h"
#include "common/host/files.h"
#include "common/options/command_line.h"

namespace fabricbench::cluster {
namespace {

constexpr std::size_t kMostDigits = 9;
constexpr std::size_t kMostDigitsOfTime = 6;

/// Whether it is a number of up to so many digits.
bool is_number(std::string_view text, std::size_t most_digits) {
  return !text.empty() && text.size() <= most_digits &&
         std::all_of(text.begin(), text.end(), [](char letter) { return letter >= '0' && letter <= '9'; });
}

}  // namespace

CalledAs::CalledAs(std::string_view command) : name(fmt::format("fabricbench {}", command)), call(name) {
  // NOLINTBEGIN(concurrency-mt-unsafe): one thread
  const char* const script = std::getenv("FABRICBENCH_COMMAND");
  if (script != nullptr && *script != '\0') {
    const std::string path = script;
    name = path.substr(path.rfind('/') + 1);
    call = quoted({path});
  }
  ::unsetenv("FABRICBENCH_COMMAND");
  // NOLINTEND(concurrency-mt-unsafe)
}

CommandOptions::CommandOptions(CalledAs called, std::string usage)
    : called_(std::move(called)), usage_(std::move(usage)) {
  constexpr std::string_view kFront = "fabricbench ";
  // Where it is installed, nobody types a script.
  if (!called_.name.starts_with(kFront) && !script_command("accept").starts_with(kFront)) return;
  usage_ = std::regex_replace(usage_, std::regex("scripts/([a-z_]+)\\.sh"), "fabricbench $1");
  usage_ = std::regex_replace(usage_, std::regex("build/fabricbench"), "fabricbench");
}

void CommandOptions::flag(std::string name, std::function<void()> take) {
  entries_.push_back(
      {std::move(name), false, [take = std::move(take)](const std::string&, const std::string&) { take(); }});
}

void CommandOptions::value(std::string name, std::function<void(const std::string&, const std::string&)> take) {
  entries_.push_back({std::move(name), true, std::move(take)});
}

void CommandOptions::value(std::string name, std::string& into) {
  value(std::move(name), [&into](const std::string&, const std::string& given) { into = given; });
}

const CommandOptions::Entry& CommandOptions::entry_of(const std::string& name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; });
  if (found != entries_.end()) return *found;
  std::vector<NearName> known = {{name_distance(name, "--help"), "--help"}};
  for (const Entry& entry : entries_) {
    if (entry.name.starts_with("--")) known.push_back({name_distance(name, entry.name), entry.name});
  }
  const std::string nearest = the_nearest(name, std::move(known));
  refuse(name, nearest);
}

void CommandOptions::refuse(std::string_view word, std::string_view nearest) const {
  throw UsageError(fmt::format("'{}' is not an option of {}; {}{}run '{} --help' for the list", word, called_.name,
                               nearest, nearest.empty() ? "" : "; ", called_.call));
}

bool CommandOptions::read(const std::vector<std::string>& arguments) {
  for (std::size_t place = 0; place < arguments.size(); ++place) {
    const std::string& word = arguments[place];
    if (word == "--") {
      behind_.assign(arguments.begin() + static_cast<std::ptrdiff_t>(place) + 1, arguments.end());
      break;
    }
    if (asks_for_help(word)) {
      fmt::print("{}", usage_);
      return false;
    }
    if (!word.starts_with('-')) {
      words_.push_back(word);
      continue;
    }
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const Entry& entry = entry_of(word.substr(0, equals));
    std::string given;
    if (equals != std::string::npos) {
      if (!entry.takes_value) throw UsageError(fmt::format("{} takes no value", entry.name));
      given = word.substr(equals + 1);
    } else if (entry.takes_value) {
      if (place + 1 == arguments.size()) {
        throw UsageError(fmt::format("{} needs a value; run '{} --help'", entry.name, called_.call));
      }
      given = arguments[++place];
    }
    entry.take(entry.name, given);
  }
  return true;
}

bool asks_for_help(std::string_view word) { return word == "-h" || word == "--help" || word.starts_with("--help="); }

int whole_number(std::string_view option, std::string_view text, int least) {
  const auto number = is_number(text, kMostDigits) ? host::parse_integer<int>(text) : std::nullopt;
  if (number && *number >= least) return *number;
  throw UsageError(fmt::format("{} '{}' is not a whole number of {} or more", option, text, least));
}

int seconds_of(std::string_view option, std::string_view text) {
  const char unit = text.empty() ? ' ' : text.back();
  const bool has_unit = unit == 's' || unit == 'm' || unit == 'h';
  const std::string_view number = has_unit ? text.substr(0, text.size() - 1) : text;
  if (!is_number(number, kMostDigitsOfTime)) {
    throw UsageError(fmt::format("{} '{}' is not a time; give one such as 90s, 20m or 8h", option, text));
  }
  if (!has_unit) {
    throw UsageError(
        fmt::format("{} '{}' has no unit; write {}s for seconds, or {}m for minutes", option, text, text, text));
  }
  const int count = *host::parse_integer<int>(number);
  return unit == 'h' ? count * 3600 : unit == 'm' ? count * 60 : count;
}

std::optional<std::string> value_of(std::span<const std::string> words, std::initializer_list<std::string_view> names) {
  std::optional<std::string> value;
  for (std::size_t place = 0; place < words.size(); ++place) {
    const std::string& word = words[place];
    for (const std::string_view name : names) {
      const bool is_long = name.starts_with("--");
      if (word == name) {
        value = place + 1 < words.size() ? words[place + 1] : "";
      } else if (is_long && word.starts_with(fmt::format("{}=", name))) {
        value = word.substr(name.size() + 1);
      } else if (!is_long && word.starts_with(name)) {
        value = word.substr(name.size());
      }
    }
  }
  return value;
}

void warn(std::string_view name, std::string_view text) {
  const std::string line = fmt::format("{}: {}\n", name, text);
  std::ignore = std::fwrite(line.data(), 1, line.size(), stderr);
}

namespace {

/// A file that is opened later must not take the number of a closed stream. Writing to standard output fails as before.
void keep_streams_open() {
  if (::fcntl(STDOUT_FILENO, F_GETFD) < 0) std::ignore = ::dup2(::open("/dev/null", O_RDONLY), STDOUT_FILENO);
  if (::fcntl(STDERR_FILENO, F_GETFD) < 0) std::ignore = ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
}

}  // namespace

bool read_command_line(CLI::App& app, int argc, char** argv) {
  const std::string called = argc > 0 ? called_name(argv[0], app.get_name()) : app.get_name();
  const std::string text =
      read_arguments(app, std::vector<std::string>(argv + std::min(argc, 1), argv + argc), {}, called);
  fmt::print("{}", text);
  return text.empty();
}

int run_tool(std::string_view program, const std::function<ExitStatus()>& work) {
  // Of what even this does not catch, as where memory lacks while an exception is on its way.
  set_crash_message(program);
  keep_streams_open();
  try {
    const ExitStatus status = work();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw Error(ExitStatus::kFailure, fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    }
    return static_cast<int>(status);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, printable(cut_short(message_of(error))));
    std::clearerr(stdout);  // a caller with a name of its own is not to tell it again
    return static_cast<int>(fabricbench::status_of(error));
  }
}

double parse_share(std::string_view text, std::string_view what) {
  const bool percent = !text.empty() && text.back() == '%';
  double share = 0;
  try {
    share =
        percent ? parse_number(text.substr(0, text.size() - 1), what, 0, 100) / 100 : parse_number(text, what, 0, 1);
  } catch (const UsageError&) {
    share = 0;  // refused below, with the message for shares
  }
  if (!(share > 0 && share < 1)) {
    throw UsageError(fmt::format(
        "{} '{}' is not a share of more than nothing and less than all; write one such as 5% or 0.05", what, text));
  }
  return share;
}

std::string share_text(double share) { return fmt::format("{:g}%", 100 * share); }

}  // namespace fabricbench::cluster
