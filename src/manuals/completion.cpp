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

const Manual* front_of(const std::vector<Manual>& manuals) {
  for (const Manual& manual : manuals) {
    if (manual.name == kFront) return &manual;
  }
  return nullptr;
}

/// The options of `fabricbench run`, which may stand behind a program's name too.
std::vector<DescribedOption> launch_options(const Manual& front) {
  for (const Command& command : front.commands) {
    if (command.name == "run") return options_in_help(command.help);
  }
  return {};
}

/// The names by which `fabricbench` starts a program: its own, and that without `_perf`.
std::vector<std::string> names_behind_front(const Manual& manual, std::string_view prefix) {
  constexpr std::string_view kEnd = "_perf";
  std::string name = manual.name;
  if (!prefix.empty() && name.starts_with(prefix)) name.erase(0, prefix.size());
  if (!name.ends_with(kEnd)) return {name};
  return {name, name.substr(0, name.size() - kEnd.size())};
}

std::string bash_case(const std::string& pattern, const std::vector<DescribedOption>& options, bool takes_files) {
  return fmt::format("        {}) words='{}' files={} ;;\n", pattern, bash_words(options), takes_files ? "yes" : "no");
}

/// An option as zsh's _arguments takes it.
std::string zsh_option(const std::string& name, const DescribedOption& option) {
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
  return in_quotes(fmt::format("{}[{}]{}", name, help, action));
}

std::string zsh_case(const std::string& pattern, const std::vector<DescribedOption>& options, bool takes_files) {
  std::string text = fmt::format("    {}) specs+=(\n", pattern);
  for (const DescribedOption& option : options) {
    for (const std::string& name : option.names) text += "        " + zsh_option(name, option) + "\n";
  }
  if (takes_files) text += "        '*:file:_files'\n";
  return text + "    ) ;;\n";
}

std::string fish_option(const std::string& program, const DescribedOption& option, const std::string& condition) {
  std::string text = fmt::format("complete -c {}{}", program, condition);
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
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

/// Both names of a program, between `|`; of fabricbench, its only one.
std::string names_of(const Manual& manual, std::string_view prefix) {
  const bool prefixed = !prefix.empty() && manual.name.starts_with(prefix);
  return prefixed ? manual.name + "|" + manual.name.substr(prefix.size()) : manual.name;
}

/// All names of all programs.
std::string all_names(const std::vector<Manual>& manuals, std::string_view prefix) {
  std::string text;
  for (const Manual& manual : manuals) text += " " + replaced(names_of(manual, prefix), "|", " ");
  return text;
}

constexpr std::string_view kBashFunction = R"(
_fabricbench() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]##*/}
    local words files entry kind='' commands='' launch_options
    if [[ $word == = ]]; then
        word=''
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    COMPREPLY=()
    if ((COMP_CWORD > 1)); then program+=" ${COMP_WORDS[1]}"; fi
    _fabricbench_words
    # Behind the name of a program that fabricbench starts.
    if [[ $program == "fabricbench "* && -z $words ]]; then
        program=${COMP_WORDS[1]//-/_}
        _fabricbench_words
        if [[ -z $words ]]; then
            program+=_perf
            _fabricbench_words
        fi
        words+=" $launch_options"
    fi
    if [[ -n $commands ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
        return
    fi
    for entry in $words; do
        if [[ ${entry%%:*} == "$before" ]]; then kind=${entry#*:}; fi
    done
    case $kind in
        '') if [[ $word == -* || $files == no ]]; then
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

}  // namespace

std::string bash_completion(const std::vector<Manual>& manuals, std::string_view prefix) {
  std::string text =
      "# Completion for bash, made from the programs' own lists of options.\n"
      "# An option and, after a colon, what it takes: nothing, a file, a folder, one of some words, or something else "
      "(-).\n\n"
      "# Reads program, the command and its second word; sets words and files, or commands.\n"
      "_fabricbench_words() {\n    case $program in\n";
  for (const Manual& manual : manuals) {
    std::vector<std::string> names;
    for (const Command& command : manual.commands) {
      text += bash_case(fmt::format("\"{} {}\"", manual.name, command.name), options_in_help(command.help), true);
      names.push_back(command.name);
    }
    if (!names.empty()) {
      for (const Manual& other : manuals) {
        if (&other != &manual) names.push_back(names_behind_front(other, prefix).back());
      }
      text += fmt::format("        {}) commands='{}' ;;\n", manual.name, fmt::join(names, " "));
      continue;
    }
    std::string patterns;
    const std::string both = names_of(manual, prefix);
    for (const auto& name : {both.substr(0, both.find('|')), both.substr(both.find('|') + 1)})
      patterns += fmt::format("{0}{1} | \"{1} \"*", patterns.empty() ? "" : " | ", name);
    text += bash_case(patterns, manual.options, !manual.arguments.empty());
  }
  const Manual* front = front_of(manuals);
  text += fmt::format("        *) words='' files=no ;;\n    esac\n    launch_options='{}'\n}}\n",
                      front == nullptr ? "" : bash_words(launch_options(*front)));
  return text + std::string(kBashFunction) +
         fmt::format("complete -o filenames -F _fabricbench{}\n", all_names(manuals, prefix));
}

std::string zsh_completion(const std::vector<Manual>& manuals, std::string_view prefix) {
  std::string text =
      fmt::format("#compdef{}\n# Made from the programs' own lists of options.\n\n", all_names(manuals, prefix));
  std::string front_text;
  text += "# Adds the options of a program to specs.\n_fabricbench_specs() {\n    case $1 in\n";
  for (const Manual& manual : manuals) {
    if (manual.commands.empty()) {
      std::string pattern = names_of(manual, prefix);
      for (const std::string& name : names_behind_front(manual, prefix)) pattern += "|" + name;
      text += zsh_case(pattern, manual.options, !manual.arguments.empty());
      continue;
    }
    front_text += fmt::format("    if ((CURRENT == 2)); then\n        local -a commands=(\n");
    for (const Command& command : manual.commands)
      front_text += "            " + in_quotes(command.name + ":" + replaced(command.purpose, ":", "\\:")) + "\n";
    for (const Manual& other : manuals) {
      if (&other == &manual) continue;
      front_text +=
          "            " +
          in_quotes(names_behind_front(other, prefix).back() + ":" + replaced(other.about.front(), ":", "\\:")) + "\n";
    }
    front_text += "        )\n        _describe command commands\n        return\n    fi\n    case $words[2] in\n";
    for (const Command& command : manual.commands)
      front_text += zsh_case(command.name, options_in_help(command.help), true);
    front_text += zsh_case("*", launch_options(manual), false);
    front_text += "    esac\n    _fabricbench_specs ${words[2]//-/_}\n    shift words\n    ((CURRENT--))\n";
  }
  text += "    esac\n}\n\nlocal -a specs\n";
  return text +
         fmt::format("if [[ $service == {} ]]; then\n{}else\n    _fabricbench_specs $service\nfi\n", kFront,
                     front_text) +
         "_arguments -s -S : $specs\n";
}

std::string fish_completion(const Manual& manual) {
  std::string text = "# Made from the program's own list of options.\n";
  if (manual.arguments.empty()) text += fmt::format("complete -c {} -f\n", manual.name);
  for (const DescribedOption& option : manual.options) text += fish_option(manual.name, option, "");
  for (const Command& command : manual.commands) {
    text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", manual.name, command.name,
                        in_quotes(command.purpose));
    for (const DescribedOption& option : options_in_help(command.help))
      text += fish_option(manual.name, option, fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name));
  }
  return text;
}

std::string fish_completion_of_front(const Manual& front, const std::vector<Manual>& manuals, std::string_view prefix) {
  std::string text = fish_completion(front);
  for (const Manual& manual : manuals) {
    if (&manual == &front) continue;
    const std::vector<std::string> names = names_behind_front(manual, prefix);
    text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", front.name, names.back(),
                        in_quotes(manual.about.front()));
    const std::string condition = fmt::format(" -n '__fish_seen_subcommand_from {}'", fmt::join(names, " "));
    for (const DescribedOption& option : manual.options) text += fish_option(front.name, option, condition);
    for (const DescribedOption& option : launch_options(front)) text += fish_option(front.name, option, condition);
  }
  return text;
}

}  // namespace fabricbench::manuals
