#include "common/watch/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "common/watch/progress.h"
#include "scoped_variable.h"
#include "scripted_clock.h"

using fabricbench::ProgressLine;
using fabricbench::wants_colour;

namespace terminal_test {

/// A terminal and a file to write to.
class Outputs {
 public:
  Outputs() : file_(open("/dev/null", O_WRONLY | O_CLOEXEC)) {
    if (file_ < 0 || openpty(&master_, &terminal_, nullptr, nullptr, nullptr) != 0) throw std::runtime_error("no pty");
  }
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;
  ~Outputs() {
    for (const int descriptor : {file_, master_, terminal_}) close(descriptor);
  }

  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] int terminal() const { return terminal_; }

 private:
  int file_;
  int master_ = -1;
  int terminal_ = -1;
};

/// Standard output for as long as the object lives.
class StandardOutput {
 public:
  explicit StandardOutput(int descriptor) : before_(dup(STDOUT_FILENO)) { dup2(descriptor, STDOUT_FILENO); }
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;
  ~StandardOutput() {
    dup2(before_, STDOUT_FILENO);
    close(before_);
  }

 private:
  int before_;
};

/// What a process finds that writes to `own`, and whose launcher writes to `launcher`.
bool launched_process_wants_colour(int own, int launcher) {
  const StandardOutput output(launcher);
  const pid_t child = fork();
  if (child == 0) {
    dup2(own, STDOUT_FILENO);
    _exit(wants_colour(true) ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status) == 1;
}

TEST(Colour, IsForTerminals) {
  const Outputs outputs;
  unsetenv("NO_COLOR");
  {
    const StandardOutput output(outputs.terminal());
    EXPECT_TRUE(wants_colour(false));
  }
  const StandardOutput output(outputs.file());
  EXPECT_FALSE(wants_colour(false));
}

TEST(Colour, CanBeRefused) {
  const Outputs outputs;
  const StandardOutput output(outputs.terminal());
  {
    const fabricbench::test::ScopedVariable refused("NO_COLOR", "1");
    EXPECT_FALSE(wants_colour(false));
  }
  const fabricbench::test::ScopedVariable empty("NO_COLOR", "");
  EXPECT_TRUE(wants_colour(false)) << "empty is as good as not set";
}

TEST(Colour, TakesATerminalOfTheLauncherToo) {
  const Outputs outputs;
  unsetenv("NO_COLOR");
  EXPECT_TRUE(launched_process_wants_colour(outputs.terminal(), outputs.terminal()));
  EXPECT_FALSE(launched_process_wants_colour(outputs.terminal(), outputs.file()));
  EXPECT_FALSE(launched_process_wants_colour(outputs.file(), outputs.terminal()));
}

/// What is written to stderr meanwhile.
template <typename Action>
std::string written_by(Action action) {
  testing::internal::CaptureStderr();
  action();
  return testing::internal::GetCapturedStderr();
}

TEST(ProgressLine, IsWrittenAtMostFiveTimesASecond) {
  fabricbench::test::ScriptedClock clock;
  ProgressLine line(true, "steps");
  EXPECT_EQ(written_by([&] { line.show(1, 9, 12.3); }), "\r# measured 1 of 9 steps, about 12 s left   ");
  clock.advance(0.1875);
  EXPECT_EQ(written_by([&] { line.show(2, 9, 10); }), "");
  clock.advance(0.0625);
  EXPECT_EQ(written_by([&] { line.show(3, 9, 8); }), "\r# measured 3 of 9 steps, about 8 s left   ");
  clock.advance(0.1875);
  EXPECT_EQ(written_by([&] { line.show(4, 9, 6); }), "") << "from the last line on";
}

TEST(ProgressLine, IsClearedOnceAndOnlyWhereItStands) {
  fabricbench::test::ScriptedClock clock;
  ProgressLine line(true);
  EXPECT_EQ(written_by([&] { line.clear(); }), "");
  (void)written_by([&] { line.show(1, 2, 3); });
  EXPECT_EQ(written_by([&] { line.clear(); }), "\r" + std::string(60, ' ') + "\r");
  EXPECT_EQ(written_by([&] { line.clear(); }), "");
  EXPECT_EQ(written_by([&] { line.show(2, 2, 0); }), "") << "too soon, though it was cleared";
}

TEST(ProgressLine, IsNotWrittenWhereNobodyWatches) {
  ProgressLine line(false);
  EXPECT_EQ(written_by([&] {
              line.show(1, 2, 3);
              line.clear();
            }),
            "");
}

}  // namespace terminal_test
