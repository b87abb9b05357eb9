// Writes the man page of every program, and completion for bash, zsh and fish, from what the programs say of
// themselves. Part of the build: make_manuals FOLDER VERSION PREFIX PROGRAM... -- TOOL...; the tools are those that no
// MPI job needs.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/core/exit_status.h"
#include "manuals/manual.h"

namespace fabricbench::manuals {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kLimitSeconds = 300;  // for all programs together; each takes milliseconds

struct Said {
  int status = 0;
  std::string text;
};

std::string all_of(int descriptor) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t count = 0; (count = ::read(descriptor, part.data(), part.size())) != 0;) {
    if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  return text;
}

enum class Errors { kShown, kHidden };

/// What a program prints on standard output when it is called by the first of `words`.
Said run(const fs::path& program, std::vector<std::string> words, Errors errors = Errors::kShown) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  if (errors == Errors::kHidden) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int problem = ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  Said said;
  if (problem == 0) said.text = all_of(pipe[0]);
  ::close(pipe[0]);
  if (problem != 0 || ::waitpid(child, &said.status, 0) != child)
    throw std::runtime_error(fmt::format("cannot run {}", program.string()));
  return said;
}

/// Throws if the program fails.
std::string told_by(const fs::path& program, const std::vector<std::string>& words) {
  Said said = run(program, words);
  if (said.status != 0)
    throw std::runtime_error(
        fmt::format("{} {} ended with wait status {}", program.string(), words.back(), said.status));
  return std::move(said.text);
}

/// The commands have options of their own, and one in Python may lack its modules here: then its page has the purpose.
Manual manual_of_front(const fs::path& program) {
  Manual manual;
  manual.name = kFront;
  const std::string help = told_by(program, {manual.name, "--help"});
  manual.about = {help.substr(0, help.find('\n')), fmt::format("'{} COMMAND --help' explains a command.", kFront)};
  manual.commands = read_commands(help);
  if (manual.commands.empty()) throw std::runtime_error(fmt::format("{} --help lists no commands", kFront));
  for (Command& command : manual.commands) {
    Said said = run(program, {manual.name, command.name, "--help"});
    if (said.status == 0) command.help = std::move(said.text);
  }
  return manual;
}

/// Of the names in the list, those that are neither commands nor programs, nor programs that this build leaves out.
std::vector<Command> scripts_of_front(const fs::path& program, const std::vector<std::string>& known) {
  std::vector<Command> scripts;
  for (Command& entry : read_commands(told_by(program, {std::string(kFront), "list"}))) {
    if (std::find(known.begin(), known.end(), entry.name) != known.end()) continue;
    Said said = run(program, {std::string(kFront), entry.name, "--help"}, Errors::kHidden);
    if (WIFEXITED(said.status) && WEXITSTATUS(said.status) == static_cast<int>(ExitStatus::kMissing)) continue;
    if (said.status != 0) throw std::runtime_error(fmt::format("{} {} --help fails", kFront, entry.name));
    entry.help = std::move(said.text);
    scripts.push_back(std::move(entry));
  }
  if (scripts.empty()) throw std::runtime_error(fmt::format("{} list has no scripts", kFront));
  return scripts;
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}", path.string()));
}

std::vector<Manual> read_manuals(const std::string& prefix, const std::vector<fs::path>& programs) {
  std::vector<Manual> manuals;
  std::vector<std::string> known;
  fs::path front;
  bool launched = true;
  for (const fs::path& program : programs) {
    known.push_back(program.filename());
    if (program == "--") {
      launched = false;
    } else if (known.back() == kFront) {
      front = program;
      manuals.push_back(manual_of_front(program));
      for (const Command& command : manuals.back().commands) known.push_back(command.name);
    } else {
      manuals.push_back(read_manual(told_by(program, {prefix + known.back(), "--describe-options"})));
      manuals.back().launched = launched;
    }
  }
  for (Manual& manual : manuals) {
    if (manual.name == kFront) manual.scripts = scripts_of_front(front, known);
  }
  return manuals;
}

void make(const fs::path& folder, const std::string& version, const std::string& prefix,
          const std::vector<fs::path>& programs) {
  const std::vector<Manual> manuals = read_manuals(prefix, programs);
  for (const char* part : {"man", "bash", "zsh", "fish"}) fs::create_directories(folder / part);
  for (const Manual& manual : manuals) {
    write(folder / "man" / (manual.name + ".1"), man_page(manual, version));
    write(folder / "fish" / (manual.name + ".fish"),
          manual.name == kFront ? fish_completion_of_front(manuals, prefix) : fish_completion(manual));
    // bash looks for a file of the command's name.
    if (manual.name != kFront)
      write(folder / "bash" / manual.name, fmt::format("source \"${{BASH_SOURCE[0]%/*}}/{}\"\n", kFront));
  }
  write(folder / "bash" / kFront, bash_completion(manuals, prefix));
  write(folder / "zsh" / fmt::format("_{}", kFront), zsh_completion(manuals, prefix));
}

}  // namespace
}  // namespace fabricbench::manuals

int main(int argc, char** argv) {
  constexpr int kFirstProgram = 4;
  if (argc <= kFirstProgram) {
    fmt::print(stderr, "usage: make_manuals FOLDER VERSION PREFIX PROGRAM... -- TOOL...\n");
    return 2;
  }
  ::alarm(fabricbench::manuals::kLimitSeconds);
  try {
    fabricbench::manuals::make(argv[1], argv[2], argv[3], {argv + kFirstProgram, argv + argc});
  } catch (const std::exception& problem) {
    fmt::print(stderr, "make_manuals: {}\n", problem.what());
    return 1;
  }
  return 0;
}
