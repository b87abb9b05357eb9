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

/// The values of a choice, `0|1`, with spaces between them.
std::string choices(const DescribedOption& option) { return replaced(option.value, "|", " "); }

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
        case Value::kChoice: kind = option.value; break;
        case Value::kOther: kind = "-"; break;
      }
      text += fmt::format("{}{}:{}", text.empty() ? "" : " ", name, kind);
    }
  }
  return text;
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
    case Value::kChoice: action = fmt::format(":{}:({})", word, choices(option)); break;
    case Value::kOther: action = fmt::format(":{}: ", word); break;
  }
  return in_quotes(fmt::format("{}[{}]{}", name, help, action));
}

std::string zsh_case(const std::string& pattern, const std::vector<DescribedOption>& options, bool takes_files) {
  std::string text = fmt::format("    {}) specs=(\n", pattern);
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
    case Value::kChoice: text += " -x -a " + in_quotes(choices(option)); break;
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
    local words files entry kind='' commands=
    if [[ $word == = ]]; then
        word=''
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    COMPREPLY=()
    if ((COMP_CWORD > 1)); then program+=" ${COMP_WORDS[1]}"; fi
    _fabricbench_words
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
    std::string names;
    for (const Command& command : manual.commands) {
      text += bash_case(fmt::format("\"{} {}\"", manual.name, command.name), options_in_help(command.help), true);
      names += (names.empty() ? "" : " ") + command.name;
    }
    if (!names.empty()) {
      text += fmt::format("        {0} | \"{0} \"*) commands='{1}' ;;\n", manual.name, names);
      continue;
    }
    std::string patterns;
    const std::string both = names_of(manual, prefix);
    for (const auto& name : {both.substr(0, both.find('|')), both.substr(both.find('|') + 1)})
      patterns += fmt::format("{0}{1} | \"{1} \"*", patterns.empty() ? "" : " | ", name);
    text += bash_case(patterns, manual.options, !manual.arguments.empty());
  }
  return text + "        *) words='' files=no ;;\n    esac\n}\n" + std::string(kBashFunction) +
         fmt::format("complete -o filenames -F _fabricbench{}\n", all_names(manuals, prefix));
}

std::string zsh_completion(const std::vector<Manual>& manuals, std::string_view prefix) {
  std::string text =
      fmt::format("#compdef{}\n# Made from the programs' own lists of options.\n\n", all_names(manuals, prefix));
  text += "local -a specs\ncase $service in\n";
  for (const Manual& manual : manuals) {
    if (manual.commands.empty()) {
      text += zsh_case(names_of(manual, prefix), manual.options, !manual.arguments.empty());
      continue;
    }
    text += fmt::format("    {})\n    if ((CURRENT == 2)); then\n        local -a commands=(\n", manual.name);
    for (const Command& command : manual.commands)
      text += "            " + in_quotes(command.name + ":" + replaced(command.purpose, ":", "\\:")) + "\n";
    text += "        )\n        _describe command commands\n        return\n    fi\n    case $words[2] in\n";
    for (const Command& command : manual.commands) text += zsh_case(command.name, options_in_help(command.help), true);
    text += "    esac\n    shift words\n    ((CURRENT--))\n    ;;\n";
  }
  return text + "esac\n_arguments -s -S : $specs\n";
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

}  // namespace fabricbench::manuals
