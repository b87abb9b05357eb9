#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "manuals/manual.h"

namespace fabricbench::manuals {
namespace {

enum class Value { kNone, kFile, kFolder, kChoice, kOther };

Value kind_of(const DescribedOption& option) {
  const std::string& word = option.value;
  if (word.empty()) return Value::kNone;
  if (!option.words.empty()) return Value::kChoice;
  if (word.find("FILE") != std::string::npos) return Value::kFile;
  if (word == "DIR" || word == "FOLDER") return Value::kFolder;
  const bool literal = word.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ/") == std::string::npos;
  return literal && word.find('|') != std::string::npos ? Value::kChoice : Value::kOther;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t place = text.find(from); place != std::string::npos; place = text.find(from, place + to.size()))
    text.replace(place, from.size(), to);
  return text;
}

/// The values of a choice: `0|1`.
const std::string& choices(const DescribedOption& option) { return option.words.empty() ? option.value : option.words; }

/// The same with spaces between them.
std::string list_of_choices(const DescribedOption& option) { return replaced(choices(option), "|", " "); }

std::string in_quotes(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

/// `-b:- --minbytes:- --json:file --quick: -C:0|1`
std::string bash_words(const std::vector<DescribedOption>& options) {
  std::string text;
  for (const DescribedOption& option : options) {
    for (const std::string& name : option.names) {
      std::string kind;
      switch (kind_of(option)) {
        case Value::kNone: break;
        case Value::kFile: kind = "file"; break;
        case Value::kFolder: kind = "folder"; break;
        case Value::kChoice: kind = choices(option); break;
        case Value::kOther: kind = "-"; break;
      }
      text += fmt::format("{}{}:{}", text.empty() ? "" : " ", name, kind);
    }
  }
  return text;
}

/// A name that may follow `fabricbench`.
struct Entry {
  enum class Kind { kLaunched, kAlone, kCommand };  ///< takes options of `run`; may follow `run`; may not
  std::string name;                                 ///< plain: without the prefix of links and `_perf`
  std::string purpose;
  std::vector<DescribedOption> options;
  bool takes_files = false;
  Kind kind = Kind::kAlone;
  bool joins_values = true;  ///< takes `--option=value`
};

using Kind = Entry::Kind;

std::string plain_name(const std::string& given, std::string_view prefix) {
  constexpr std::string_view kEnd = "_perf";
  std::string name = given;
  if (name.starts_with(prefix)) name.erase(0, prefix.size());
  return name.ends_with(kEnd) ? name.substr(0, name.size() - kEnd.size()) : name;
}

Entry entry_of(const Command& command, const std::vector<Command>& others, Kind kind) {
  std::vector<DescribedOption> options = options_in_help(command.help);
  const std::vector<DescribedOption> named = options_named_in_help(command.help, others);
  options.insert(options.end(), named.begin(), named.end());
  // A list of programs has no line for it.
  if (options.empty()) options.push_back({"", {"--help"}, "", "", ""});
  // Scripts do not join values; the others' lists of options have this title, or are those of programs.
  const bool joins = command.help.find("ptions:\n") != std::string::npos || command.name == "run";
  return {command.name, command.purpose, options, takes_files(command.help), kind, joins};
}

std::vector<Entry> entries_of(const std::vector<Manual>& manuals, std::string_view prefix) {
  std::vector<Entry> entries;
  for (const Manual& manual : manuals) {
    for (const Command& command : manual.commands) entries.push_back(entry_of(command, {}, Kind::kCommand));
    for (const Command& script : manual.scripts) entries.push_back(entry_of(script, manual.scripts, Kind::kAlone));
    if (manual.name == kFront) continue;
    entries.push_back({plain_name(manual.name, prefix), manual.about.front(), manual.options, !manual.arguments.empty(),
                       manual.launched ? Kind::kLaunched : Kind::kAlone, true});
  }
  return entries;
}

/// The options of `run` that may stand behind a program's name too.
std::vector<DescribedOption> launch_options(const std::vector<Entry>& entries) {
  std::vector<DescribedOption> options;
  for (const Entry& entry : entries) {
    if (entry.name == "run" && entry.kind == Kind::kCommand) options = entry.options;
  }
  std::erase_if(options, [](const DescribedOption& option) { return option.names.back() == "--help"; });
  return options;
}

/// The names of commands, or of what may follow `run`, between spaces.
std::string names_of(const std::vector<Entry>& entries, bool commands) {
  std::string text;
  for (const Entry& entry : entries) {
    if ((entry.kind == Kind::kCommand) == commands) text += (text.empty() ? "" : " ") + entry.name;
  }
  return text;
}

/// An option as zsh's _arguments takes it.
std::string zsh_option(const std::string& name, const DescribedOption& option, bool joins_values) {
  const std::string help = replaced(replaced(replaced(option.help, "[", "\\["), "]", "\\]"), ":", "\\:");
  const std::string word = replaced(option.value, ":", "\\:");
  std::string action;
  switch (kind_of(option)) {
    case Value::kNone: break;
    case Value::kFile: action = fmt::format(":{}:_files", word); break;
    case Value::kFolder: action = fmt::format(":{}:_files -/", word); break;
    case Value::kChoice: action = fmt::format(":{}:({})", word, list_of_choices(option)); break;
    case Value::kOther: action = fmt::format(":{}: ", word); break;
  }
  // Its value may follow behind `=` or a space.
  const bool joined = joins_values && !action.empty() && name.starts_with("--");
  return in_quotes(fmt::format("{}{}[{}]{}", name, joined ? "=" : "", help, action));
}

std::string zsh_options(const std::vector<DescribedOption>& options, bool joins_values) {
  std::string text;
  for (const DescribedOption& option : options) {
    for (const std::string& name : option.names) text += "        " + zsh_option(name, option, joins_values) + "\n";
  }
  return text;
}

std::string zsh_names(const std::vector<Entry>& entries, bool commands) {
  std::string text;
  for (const Entry& entry : entries) {
    if ((entry.kind == Kind::kCommand) == commands)
      text += "        " + in_quotes(entry.name + ":" + replaced(entry.purpose, ":", "\\:")) + "\n";
  }
  return text;
}

std::string fish_option(const std::string& program, const DescribedOption& option, const std::string& condition) {
  std::string text = fmt::format("complete -c {}{}", program, condition);
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : (name.size() == 2 ? " -s " : " -o ") + name.substr(1);
  switch (kind_of(option)) {
    case Value::kNone: break;
    case Value::kFile: text += " -r"; break;
    case Value::kFolder: text += " -x -a '(__fish_complete_directories)'"; break;
    case Value::kChoice: text += " -x -a " + in_quotes(list_of_choices(option)); break;
    case Value::kOther: text += " -x"; break;
  }
  if (!option.help.empty()) text += " -d " + in_quotes(replaced(option.help, "\\", "\\\\"));
  return text + "\n";
}

/// The commands that are completed: each program by both its names.
std::string completed_commands(const std::vector<Manual>& manuals, std::string_view prefix) {
  std::string text;
  for (const Manual& manual : manuals) {
    text += " " + manual.name;
    if (!prefix.empty() && manual.name.starts_with(prefix)) text += " " + manual.name.substr(prefix.size());
  }
  return text;
}

/// `text` with the prefix of links, as plain names would have it, for PREFIX.
std::string with_prefix(std::string_view text, std::string_view prefix) {
  return replaced(std::string(text), "PREFIX", replaced(std::string(prefix), "-", "_"));
}

/// In bash and zsh alike.
constexpr std::string_view kPlainFunction = R"(
# As programs are listed: all_reduce for PREFIXall-reduce_perf.
_fabricbench_plain() {
    plain=${1//-/_}
    plain=${plain#PREFIX}
    plain=${plain%_perf}
}

)";

constexpr std::string_view kBashFunctions = R"(# What may stand at the cursor behind fabricbench.
_fabricbench_front() {
    local place=1
    if ((COMP_CWORD == 1)); then
        words='--help: --version:' names="$commands $programs"
        return
    elif [[ ${COMP_WORDS[1]} == help ]]; then
        names="$commands $programs"
        return
    elif [[ ${COMP_WORDS[1]} == run ]]; then
        while ((++place < COMP_CWORD)); do
            _fabricbench_plain "${COMP_WORDS[place]}"
            if [[ " $programs " == *" $plain "* ]]; then break; fi
        done
        if ((place == COMP_CWORD)); then
            _fabricbench_words run
            names=$programs
            return
        fi
    fi
    _fabricbench_plain "${COMP_WORDS[place]}"
    _fabricbench_words "$plain"
    if [[ $launched == yes ]]; then words+=" $launch_options"; fi
}

_fabricbench() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local words='' files=no launched=no names='' plain programs commands launch_options entry kind=''
    if [[ $word == = ]]; then
        word=''
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    COMPREPLY=()
    _fabricbench_lists
    if [[ ${COMP_WORDS[0]##*/} == fabricbench ]]; then
        _fabricbench_front
    else
        _fabricbench_plain "${COMP_WORDS[0]##*/}"
        _fabricbench_words "$plain"
    fi
    for entry in $words; do
        if [[ ${entry%%:*} == "$before" ]]; then kind=${entry#*:}; fi
    done
    case $kind in
        '') if [[ $word != -* && -n $names ]]; then
            if [[ $word == *-* ]]; then names=${names//_/-}; fi
            mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word")
        elif [[ $word == -* || $files == no ]]; then
            for entry in $words; do
                if [[ ${entry%%:*} == "$word"* ]]; then COMPREPLY+=("${entry%%:*}"); fi
            done
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi ;;
        file) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        folder) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
        -) ;;
        *) mapfile -t COMPREPLY < <(compgen -W "${kind//|/ }" -- "$word") ;;
    esac
}
)";

constexpr std::string_view kZshFunctions = R"(# A typed - also stands for _.
_fabricbench_all_names() { _describe -t commands command all_names -M 'm:-=_' }
_fabricbench_programs() { _describe -t commands program programs -M 'm:-=_' }

# What may stand at the cursor behind fabricbench.
_fabricbench_front() {
    local place=2
    local -a all_names=($commands $programs)
    if ((CURRENT == 2)); then
        _arguments : '--help[explain fabricbench]' '--version[print the version]' '1:command:_fabricbench_all_names'
        return
    elif [[ $words[2] == help ]]; then
        if ((CURRENT == 3)); then _fabricbench_all_names; fi
        return
    elif [[ $words[2] == run ]]; then
        while ((++place < CURRENT)); do
            _fabricbench_plain $words[place]
            if [[ -n ${(M)programs:#$plain:*} ]]; then break; fi
        done
        if ((place == CURRENT)); then
            _fabricbench_specs run
            specs+=('*:program:_fabricbench_programs')
            place=2
        fi
    fi
    if ((!$#specs)); then
        _fabricbench_plain $words[place]
        _fabricbench_specs $plain
    fi
    if [[ $launched == yes ]]; then specs+=($launch_options); fi
    shift $((place - 1)) words
    ((CURRENT -= place - 1))
    _arguments -s -S : $specs
}

local launched=no plain
local -a specs
if [[ $service == fabricbench ]]; then
    _fabricbench_front
else
    _fabricbench_plain $service
    _fabricbench_specs $plain
    _arguments -s -S : $specs
fi
)";

constexpr std::string_view kFishFunctions = R"(
# As programs are listed: all_reduce for PREFIXall-reduce_perf.
function __fabricbench_plain
    string replace -a -- - _ $argv | string replace -r '^PREFIX' '' | string replace -r '_perf$' ''
end

# The command or program whose options are to be completed: nothing yet, or run without a program.
function __fabricbench_name
    set -l words (commandline -opc)
    set -e words[1]
    if test "$words[1]" = run
        for word in $words
            set -l name (__fabricbench_plain $word)
            if contains -- "$name" $__fabricbench_programs
                echo $name
                return
            end
        end
    end
    __fabricbench_plain "$words[1]"
end

function __fabricbench_is
    contains -- (__fabricbench_name) $argv
end

complete -c fabricbench -f
complete -c fabricbench -n '__fabricbench_is ""' -l help -d 'explain fabricbench'
complete -c fabricbench -n '__fabricbench_is ""' -l version -d 'print the version'
)";

}  // namespace

std::string bash_completion(const std::vector<Manual>& manuals, std::string_view prefix) {
  const std::vector<Entry> entries = entries_of(manuals, prefix);
  std::string text =
      "# Completion for bash, made from the programs' own lists of options.\n"
      "# An option and, after a colon, what it takes: nothing, a file, a folder, one of some words, or something else "
      "(-).\n\n"
      "# Sets words, files and launched, of a program or command by its plain name.\n"
      "_fabricbench_words() {\n    case $1 in\n";
  for (const Entry& entry : entries) {
    text += fmt::format("        {}) words='{}' files={} launched={} ;;\n", entry.name, bash_words(entry.options),
                        entry.takes_files ? "yes" : "no", entry.kind == Kind::kLaunched ? "yes" : "no");
  }
  text += fmt::format(
      "    esac\n}}\n\n_fabricbench_lists() {{\n    commands='{}'\n    programs='{}'\n    launch_options='{}'\n}}\n",
      names_of(entries, true), names_of(entries, false), bash_words(launch_options(entries)));
  return text + with_prefix(kPlainFunction, prefix) + with_prefix(kBashFunctions, prefix) +
         fmt::format("complete -o filenames -F _fabricbench{}\n", completed_commands(manuals, prefix));
}

std::string zsh_completion(const std::vector<Manual>& manuals, std::string_view prefix) {
  const std::vector<Entry> entries = entries_of(manuals, prefix);
  std::string text = fmt::format("#compdef{}\n# Made from the programs' own lists of options.\n\n",
                                 completed_commands(manuals, prefix));
  text += "# Sets specs and launched, of a program or command by its plain name.\n";
  text += "_fabricbench_specs() {\n    case $1 in\n";
  for (const Entry& entry : entries) {
    text += fmt::format("    {}) launched={} specs=(\n{}{}    ) ;;\n", entry.name,
                        entry.kind == Kind::kLaunched ? "yes" : "no", zsh_options(entry.options, entry.joins_values),
                        entry.takes_files ? "        '*:file:_files'\n" : "");
  }
  text += "    esac\n}\n\n";
  text += fmt::format("local -a commands=(\n{})\nlocal -a programs=(\n{})\nlocal -a launch_options=(\n{})\n",
                      zsh_names(entries, true), zsh_names(entries, false), zsh_options(launch_options(entries), true));
  return text + with_prefix(kPlainFunction, prefix) + with_prefix(kZshFunctions, prefix);
}

std::string fish_completion(const Manual& manual) {
  std::string text = "# Made from the program's own list of options.\n";
  if (manual.arguments.empty()) text += fmt::format("complete -c {} -f\n", manual.name);
  for (const DescribedOption& option : manual.options) text += fish_option(manual.name, option, "");
  return text;
}

std::string fish_completion_of_front(const std::vector<Manual>& manuals, std::string_view prefix) {
  const std::vector<Entry> entries = entries_of(manuals, prefix);
  std::string text =
      fmt::format("# Made from the programs' own lists of options.\nset -g __fabricbench_programs {}\n{}",
                  names_of(entries, false), with_prefix(kFishFunctions, prefix));
  const std::string front(kFront);
  std::string with_files;
  std::string launched;
  for (const Entry& entry : entries) {
    text += fmt::format("complete -c {} -n '__fabricbench_is \"\" help{}' -a {} -d {}\n", front,
                        entry.kind == Kind::kCommand ? "" : " run", entry.name, in_quotes(entry.purpose));
    for (const DescribedOption& option : entry.options)
      text += fish_option(front, option, fmt::format(" -n '__fabricbench_is {}'", entry.name));
    if (entry.takes_files) with_files += " " + entry.name;
    if (entry.kind == Kind::kLaunched) launched += " " + entry.name;
  }
  for (const DescribedOption& option : launch_options(entries))
    text += fish_option(front, option, fmt::format(" -n '__fabricbench_is{}'", launched));
  return text + fmt::format("complete -c {} -n '__fabricbench_is{}' -F\n", front, with_files);
}

}  // namespace fabricbench::manuals
