
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

using fabricbench::Progress;
using fabricbench::progress_form;
using fabricbench::ProgressForm;
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
template <typename Ask>
int answer_of_launched_process(int own, int launcher, Ask ask) {
  const StandardOutput output(launcher);
  const pid_t child = fork();
  if (child == 0) {
    dup2(own, STDOUT_FILENO);
    _exit(static_cast<int>(ask()));
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

bool launched_process_wants_colour(int own, int launcher) {
  return answer_of_launched_process(own, launcher, [] { return wants_colour(true); }) != 0;
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

ProgressForm form_of_launched_process(int own, int launcher) {
  return static_cast<ProgressForm>(
      answer_of_launched_process(own, launcher, [] { return progress_form(true, false); }));
}

TEST(Progress, IsWithTheTableWhereThatIsWatched) {
  const Outputs outputs;
  EXPECT_EQ(form_of_launched_process(outputs.terminal(), outputs.terminal()), ProgressForm::kWithTable);
  EXPECT_NE(form_of_launched_process(outputs.terminal(), outputs.file()), ProgressForm::kWithTable);
  EXPECT_NE(form_of_launched_process(outputs.file(), outputs.terminal()), ProgressForm::kWithTable);
  Progress progress(ProgressForm::kWithTable);
  testing::internal::CaptureStdout();
  progress.show("1 of 9");
  progress.clear();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "\r# 1 of 9\r        \r");
}

/// What is written to stderr meanwhile.
template <typename Action>
std::string written_by(Action action) {
  testing::internal::CaptureStderr();
  action();
  return testing::internal::GetCapturedStderr();
}

TEST(Progress, IsDueFiveTimesASecondWhereSomebodyWatches) {
  fabricbench::test::ScriptedClock clock;
  Progress progress(ProgressForm::kOneLine);
  EXPECT_TRUE(progress.is_due());
  EXPECT_EQ(written_by([&] { progress.show("1 of 9"); }), "\r# 1 of 9");
  clock.advance(0.1875);
  EXPECT_FALSE(progress.is_due()) << "from the last line on";
  clock.advance(0.0625);
  EXPECT_TRUE(progress.is_due());
  (void)written_by([&] { progress.clear(); });  // the line is that of the process
}

TEST(Progress, CoversALongerLineAndIsClearedOnce) {
  fabricbench::test::ScriptedClock clock;
  Progress progress(ProgressForm::kOneLine);
  EXPECT_EQ(written_by([&] { progress.clear(); }), "") << "nothing stands there";
  (void)written_by([&] { progress.show("a longer line"); });
  EXPECT_EQ(written_by([&] { progress.show("short"); }), "\r# short        ");
  EXPECT_EQ(written_by([&] { progress.clear(); }), "\r       \r");
  EXPECT_EQ(written_by([&] { progress.clear(); }), "");
}

TEST(Progress, EndsBeforeTheLastLines) {
  Progress progress(ProgressForm::kOneLine);
  (void)written_by([&] { progress.show("1 of 9"); });
  EXPECT_EQ(written_by([] { fabricbench::end_progress(); }), "\r        \r");
  EXPECT_EQ(written_by([&] { progress.show("2 of 9"); }), "") << "nothing stands below them";
}

TEST(Progress, HasALineEveryTenSecondsInALog) {
  fabricbench::test::ScriptedClock clock;
  Progress progress(ProgressForm::kLog);
  EXPECT_FALSE(progress.is_due());
  clock.advance(10);
  EXPECT_TRUE(progress.is_due());
  EXPECT_EQ(written_by([&] { progress.show("1 of 9"); }), "fabricbench: progress: 1 of 9\n");
  EXPECT_EQ(written_by([&] { progress.clear(); }), "");
  EXPECT_FALSE(progress.is_due());
}

TEST(Progress, IsToldByOneProcessOnly) {
  EXPECT_EQ(progress_form(false, true), ProgressForm::kNone);
  EXPECT_EQ(progress_form(true, true), ProgressForm::kOneLine);
  Progress progress(ProgressForm::kNone);
  EXPECT_FALSE(progress.is_due());
  EXPECT_EQ(written_by([&] {
              progress.show("1 of 9");
              progress.clear();
            }),
            "");
}

}  // namespace terminal_test
