// Reads command lines of other tools.

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/names.h"
#include "common/core/wording.h"
#include "common/options/known_options.h"
#include "common/options/other_tools.h"
#include "common/options/verbs_programs.h"

namespace fabricbench {
namespace {

/// `--size=8`, `-s8`: name and value of one argument; `-s` alone has no value.
struct Argument {
  std::string_view name;
  std::optional<std::string_view> value;
};

Argument split(std::string_view text) {
  if (!text.starts_with("--")) {
    return text.size() > 2 ? Argument{text.substr(0, 2), text.substr(2)} : Argument{text, std::nullopt};
  }
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// The program's own option of this name.
const Option* own_option(const Program& program, std::string_view name) {
  for (const Option& option : program.options) {
    const auto names = names_in(option.names);
    if (std::find(names.begin(), names.end(), name) != names.end()) return &option;
  }
  return nullptr;
}

/// The option of the program in `text` whose value is the next argument; of letters together, the last one's.
const Option* waits_for_value(const Program& program, std::string_view text) {
  const auto with_value = [&](std::string_view name) {
    const Option* option = own_option(program, name);
    return option == nullptr || option->value_name.empty() ? nullptr : option;
  };
  if (text.starts_with("--")) return text.find('=') == std::string_view::npos ? with_value(text) : nullptr;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const Option* option = with_value(fmt::format("-{}", text[i]));
    if (option != nullptr) return i + 1 == text.size() ? option : nullptr;
  }
  return nullptr;
}

/// An option of another tool, and the tool.
struct Found {
  const OtherTool* tool = nullptr;
  const OtherOption* option = nullptr;
};

/// The option of this name in the tools that `wanted` accepts.
template <typename Wanted>
Found find(std::string_view name, const Wanted& wanted) {
  for (const OtherTool& tool : other_tools()) {
    if (!wanted(tool)) continue;
    for (const OtherOption& option : tool.options) {
      const auto names = names_in(option.names);
      if (std::find(names.begin(), names.end(), name) != names.end()) return {&tool, &option};
    }
  }
  return {};
}

/// True if the tool's option of this name is the same here.
bool is_same(const OtherTool& tool, std::string_view name) {
  const Found found = find(name, [&](const OtherTool& other) { return &other == &tool; });
  return found.option != nullptr && found.option->treatment == Treatment::kSame;
}

/// The first of our options in `ours` that the program lacks; empty: none.
std::string_view missing_option(const Program& program, std::string_view ours) {
  for (std::size_t at = ours.find("--"); at != std::string_view::npos; at = ours.find("--", at)) {
    const std::string_view name = ours.substr(at, ours.find(' ', at) - at);
    if (!has_option(program, name)) return name;
    at += name.size();
  }
  return {};
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

/// The arguments that `ours` stands for. An end of `[MIN:]MAX` that was not given is left out, with its option.
std::vector<std::string> filled(std::string_view ours, std::string_view value) {
  const std::size_t colon = value.find(':');
  const std::string_view least = colon == std::string_view::npos ? "" : value.substr(0, colon);
  const std::string_view most = colon == std::string_view::npos ? value : value.substr(colon + 1);
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < ours.size();) {
    const std::size_t end = std::min(ours.find(' ', at), ours.size());
    std::string word(ours.substr(at, end - at));
    at = end + 1;
    const bool bound = word == "MIN" || word == "MAX";
    if (bound) word = word == "MIN" ? least : most;
    replace(word, "VALUE", value);
    if (bound && word.empty()) {
      arguments.pop_back();
    } else {
      arguments.push_back(word);
    }
  }
  return arguments;
}

/// True if one of `rdma_read_*,rdma_*_lat` is the program.
bool matches(std::string_view patterns, std::string_view program) {
  const std::vector<std::string_view> all = names_in(patterns);
  return std::any_of(all.begin(), all.end(), [&](std::string_view pattern) {
    const std::size_t star = pattern.find('*');
    return program.starts_with(pattern.substr(0, star)) && program.ends_with(pattern.substr(star + 1));
  });
}

/// True if the option is the same in other programs, and this one says nothing of it.
bool is_unread(const OtherOption& option, std::string_view program) {
  return option.treatment == Treatment::kSame && unsupported_in(option, program) == nullptr;
}

bool is_refused(const OtherOption& option, std::string_view program) {
  const Unsupported* unsupported = unsupported_in(option, program);
  return (unsupported == nullptr ? option.treatment : unsupported->treatment) == Treatment::kRefused;
}

/// Leaves out an option, or refuses it. `whose`: `-t of perftest`.
void reject(std::string_view whose, Treatment treatment, std::string_view reason, Translated& own) {
  if (treatment == Treatment::kRefused) throw UsageError(fmt::format("{}: {}", whose, reason));
  own.notices.push_back(fmt::format("{} is left out: {}", whose, reason));
}

/// Adds what an option of another tool is here.
void add(const Program& program, const Found& found, std::string_view typed, std::string_view value, Translated& own) {
  const auto& [tool, option] = found;
  const std::string whose = fmt::format("{} of {}", typed, tool->name);
  if (const Unsupported* unsupported = unsupported_in(*option, program.name))
    return reject(whose, unsupported->treatment, unsupported->reason, own);
  if (option->treatment != Treatment::kMapped) return reject(whose, option->treatment, option->ours, own);
  if (const std::string_view missing = missing_option(program, option->ours); !missing.empty()) {
    throw UsageError(fmt::format("{} is {} here, which {} does not have; leave it out", whose, missing, program.name));
  }
  const std::vector<std::string_view> allowed = names_in(option->allowed.values);
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
    throw UsageError(fmt::format("{} {} of {}: {}", typed, value, tool->name, option->allowed.otherwise));
  }
  const std::vector<std::string> words = filled(option->ours, value);
  std::string line;
  for (const std::string& word : words) line += " " + word;
  own.notices.push_back(
      fmt::format("{} is read as{}{}{}", whose, line, option->remark.empty() ? "" : "; ", option->remark));
  own.arguments.insert(own.arguments.end(), words.begin(), words.end());
}

/// True if two long names differ by - and _ at most.
bool same_spelling(std::string_view one, std::string_view other) {
  const auto dashed = [](char letter) { return letter == '_' ? '-' : letter; };
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [&](char left, char right) { return dashed(left) == dashed(right); });
}

/// An argument with its long name as the program, or else a tool, spells it.
std::string respelled(const Program& program, const std::string& text) {
  const std::string_view given = split(text).name;
  if (!given.starts_with("--") || has_option(program, given)) return text;
  const std::string rest = text.substr(given.size());
  for (const Option& option : program.options) {
    for (const std::string_view name : names_in(option.names)) {
      if (same_spelling(name, given)) return std::string(name) + rest;
    }
  }
  for (const OtherName& other : other_names(program)) {
    if (same_spelling(other.name, given)) return other.name + rest;
  }
  return text;
}

/// The effect of an option that the program lacks.
std::string effect_of(const OtherOption& option, std::string_view program) {
  const Unsupported* unsupported = unsupported_in(option, program);
  const Treatment treatment = unsupported == nullptr ? option.treatment : unsupported->treatment;
  const std::string_view words = unsupported == nullptr ? option.ours : unsupported->reason;
  if (treatment == Treatment::kMapped) return fmt::format("here {}", words);
  return fmt::format("{}{}", treatment == Treatment::kDropped ? "left out here: " : "", words);
}

/// Refuses a value that is an option of the program or of its tools. Numbers below 0 are none. `whose`: the option that
/// needs the value; `meaning`: of its name in other tools.
void refuse_option_as_value(const Program& program, std::string_view whose, std::string_view value,
                            std::string_view meaning) {
  constexpr std::string_view kNumbers = "0123456789.";
  if (value.size() < 2 || value.front() != '-' || kNumbers.find(value[1]) != std::string_view::npos) return;
  const auto serves = [&](const OtherTool& tool) { return tool.is_for(program.name); };
  if (!has_option(program, value) && find(value, serves).option == nullptr) return;
  throw UsageError(
      fmt::format("{} needs a value, and was given the option '{}'{}; --help says which", whose, value, meaning));
}

/// The first two names of an option: `-b,--minbytes`.
std::string_view typed_name(const Option& option) {
  const std::string_view names = option.names;
  const std::size_t first = names.find(',');
  return names.substr(0, first == std::string_view::npos ? first : names.find(',', first + 1));
}

[[noreturn]] void refuse_server(const Program& program, std::string_view word) {
  throw UsageError(
      fmt::format("stray argument '{}'; one command starts both ends, and neither is a server: "
                  "fabricbench {} --hosts A,{}, or mpirun --host A,{}",
                  word, program.name, word, word));
}

/// The names of one program of each kind that has an option.
std::vector<std::string> programs_with(std::string_view option) {
  std::vector<std::string> names;
  for (const Program& program : one_program_of_each_kind()) {
    if (has_option(program, option)) names.push_back(program.name);
  }
  return names;
}

/// Whether an unknown long option is one letter away from one that the program has.
bool is_a_slip(const Program& program, std::string_view given) {
  return std::any_of(program.options.begin(), program.options.end(), [&](const Option& option) {
    const std::vector<std::string_view> names = names_in(option.names);
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return name.size() > 2 && name_distance(given, name) <= 1; });
  });
}

/// Refuses an option that only other programs have, or programs for another tool.
void refuse_option_elsewhere(const Program& program, std::string_view name) {
  if (!name.starts_with("--")) return;  // letters mean something in every tool
  const std::vector<std::string> others = programs_with(name);
  if (!others.empty() && !is_a_slip(program, name)) {
    throw UsageError(fmt::format("unknown option '{}'; {} {} it, and {} does not; --help lists those of {}", name,
                                 enumerated(others), others.size() == 1 ? "has" : "have", program.name, program.name));
  }
  const Found found = find(name, [](const OtherTool&) { return true; });
  if (found.tool == nullptr) return;
  throw UsageError(fmt::format("unknown option '{}'; {} has it, for which there are {} here; --help lists those of {}",
                               name, found.tool->name, found.tool->programs, program.name));
}

/// A command line, from its first argument to the last.
class Translation {
 public:
  Translation(const Program& program, const std::vector<std::string>& arguments)
      : program_(program), arguments_(arguments) {}

  Translated made() {
    while (at_ < arguments_.size() && read(respelled(program_, arguments_[at_]))) ++at_;
    // From an unknown option on, which the parser refuses.
    own_.arguments.insert(own_.arguments.end(), arguments_.begin() + static_cast<std::ptrdiff_t>(at_),
                          arguments_.end());
    add_usual_sizes();
    return std::move(own_);
  }

 private:
  [[nodiscard]] bool last() const { return at_ + 1 == arguments_.size(); }

  /// Reads an argument and its value; false: an unknown option.
  bool read(const std::string& text) {
    const auto serves = [this](const OtherTool& tool) { return tool.is_for(program_.name); };
    if (text.size() < 2 || text.front() != '-') return read_word(text, find(text, serves));
    const Argument argument = split(text);
    Found found = in_company(argument.name);
    if (found.option == nullptr && has_option(program_, argument.name)) return read_own(text);
    if (found.option == nullptr) found = find(argument.name, serves);
    if (found.option == nullptr) refuse_option_elsewhere(program_, argument.name);
    if (found.option == nullptr || is_unread(*found.option, program_.name)) return false;
    add(program_, found, argument.name, value_of(found, argument), own_);
    if (!found.option->usual.empty()) usual_ = found;
    return true;
  }

  /// The option of another tool that a letter of ours is where letters stand beside it that are the tool's alone.
  [[nodiscard]] Found in_company(std::string_view name) const {
    const auto has_others = [this](const OtherTool& tool) {
      return tool.is_for(program_.name) && std::any_of(arguments_.begin(), arguments_.end(), [&](const auto& text) {
               const std::string_view given = split(text).name;
               return given.starts_with('-') && !has_option(program_, given) &&
                      find(given, [&](const OtherTool& other) { return &other == &tool; }).option != nullptr;
             });
    };
    const Found found = find(name, has_others);
    return found.option != nullptr && found.option->in_company ? found : Found();
  }

  /// Says what a letter is here that is another tool's too, where nothing beside it tells which is meant.
  void tell_letter(const Option& option, std::string_view name) {
    const auto serves = [this](const OtherTool& tool) { return tool.is_for(program_.name); };
    const Found other = find(name, serves);
    if (other.option == nullptr || !other.option->in_company) return;
    const bool has_sizes = std::any_of(arguments_.begin(), arguments_.end(), [&](const std::string& text) {
      const Option* each = own_option(program_, split(text).name);
      return each != nullptr && each != &option && each->group == option.group;
    });
    if (has_sizes) return;
    own_.notices.push_back(fmt::format("{} is {} here{}", name, option.long_name(), other_meaning(program_, option)));
  }

  /// An argument without dashes: a place of buffers of OSU, or a stray one.
  bool read_word(const std::string& word, const Found& found) {
    const auto& tools = other_tools();
    const bool has_server = std::any_of(tools.begin(), tools.end(), [this](const OtherTool& tool) {
      return tool.is_for(program_.name) && tool.has_server;
    });
    if (has_server) refuse_server(program_, word);
    if (found.option == nullptr) {
      own_.arguments.push_back(word);
      return true;
    }
    if (!word_.empty() && word_ != word) {
      throw UsageError(
          fmt::format("{} {} of {}: the buffers of both ranks are in one kind of memory here; give one, or "
                      "--memory",
                      word_, word, found.tool->name));
    }
    if (word_.empty()) add(program_, found, word, "", own_);
    word_ = word;
    return true;
  }

  bool read_own(const std::string& text) {
    own_.arguments.push_back(text);
    const Argument argument = split(text);
    if (const Option* own = own_option(program_, argument.name)) tell_letter(*own, argument.name);
    const Option* waiting = waits_for_value(program_, text);
    if (waiting == nullptr) return true;
    if (last()) {
      const std::string meaning = other_meaning(program_, *waiting);
      if (meaning.empty()) return true;  // the parser refuses it
      throw UsageError(fmt::format("{} needs a value{}; --help says which", typed_name(*waiting), meaning));
    }
    refuse_option_as_value(program_, typed_name(*waiting), arguments_[at_ + 1], other_meaning(program_, *waiting));
    own_.arguments.push_back(arguments_[++at_]);
    return true;
  }

  /// The value of another tool's option; empty for flags, and where a refused one has none.
  std::string value_of(const Found& found, const Argument& argument) {
    if (found.option->value_name.empty() || argument.value) return std::string(argument.value.value_or(""));
    if (is_refused(*found.option, program_.name)) return "";
    const std::string whose = fmt::format("{} of {}", argument.name, found.tool->name);
    if (last()) throw UsageError(whose + " needs a value");
    refuse_option_as_value(program_, whose, arguments_[at_ + 1], "");
    return arguments_[++at_];
  }

  void add_usual_sizes() {
    if (usual_.option == nullptr) return;
    for (const std::string& text : own_.arguments) {
      const Option* option = own_option(program_, split(text).name);
      if (option != nullptr && option->group == OptionGroup::kSizes) return;
    }
    const std::string_view sizes = usual_.option->usual;
    own_.notices.push_back(
        fmt::format("{} measures one size, and none is given: {} is added", usual_.tool->name, sizes));
    const std::vector<std::string> words = filled(sizes, "");
    own_.arguments.insert(own_.arguments.end(), words.begin(), words.end());
  }

  const Program& program_;
  const std::vector<std::string>& arguments_;
  std::size_t at_ = 0;
  std::string word_;  ///< the first argument without dashes
  Found usual_;       ///< the option of a tool that has a usual size
  Translated own_;
};

}  // namespace

std::vector<std::string_view> names_in(std::string_view names) {
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find(',', at), names.size());
    all.push_back(names.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

const Unsupported* unsupported_in(const OtherOption& option, std::string_view program) {
  const auto* const unsupported =
      std::find_if(option.unsupported.begin(), option.unsupported.end(),
                   [&](const Unsupported& each) { return matches(each.programs, program); });
  return unsupported == option.unsupported.end() ? nullptr : unsupported;
}

bool has_option(const Program& program, std::string_view name) {
  return name == "-h" || name == "--help" || name == "--version" || own_option(program, name) != nullptr;
}

std::vector<OtherName> other_names(const Program& program) {
  std::vector<OtherName> all;
  for (const OtherTool& tool : other_tools()) {
    if (!tool.is_for(program.name)) continue;
    for (const OtherOption& option : tool.options) {
      for (const std::string_view name : names_in(option.names)) {
        if (!name.starts_with("--") || has_option(program, name) || is_unread(option, program.name)) continue;
        all.push_back(
            {std::string(name), fmt::format("{} of {} ({})", name, tool.name, effect_of(option, program.name))});
      }
    }
  }
  for (const LaunchOption& option : kLaunchOptions) {
    if (option.name.starts_with("--"))
      all.push_back({std::string(option.name), fmt::format("{} of fabricbench run", option.name)});
  }
  return all;
}

Translated translate_options(const Program& program, const std::vector<std::string>& arguments) {
  return Translation(program, arguments).made();
}

std::string other_meaning(const Program& program, const Option& option) {
  std::string text;
  for (const std::string_view name : names_in(option.names)) {
    const bool usual = find(name, [&](const OtherTool& tool) {
                         return tool.is_for(program.name) && is_same(tool, name);
                       }).option != nullptr;
    const auto [tool, other] = find(
        name, [&](const OtherTool& candidate) { return candidate.is_for(program.name) && !is_same(candidate, name); });
    if (other == nullptr) continue;
    const bool mapped = other->treatment == Treatment::kMapped && missing_option(program, other->ours).empty();
    if (mapped) text += fmt::format("; {} of {} is {} here", name, tool->name, other->ours);
    if (other->treatment == Treatment::kDropped && !usual)
      text += fmt::format("; {} of {} changes nothing here: {}", name, tool->name, other->ours);
    // The reason of a refusal helps only where no tool means what the program does.
    if (other->treatment == Treatment::kRefused && !usual)
      text += fmt::format("; {} of {}: {}", name, tool->name, other->ours);
  }
  return text;
}

}  // namespace fabricbench
