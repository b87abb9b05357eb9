#include "common/report/output_file.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/error.h"
#include "common/report/sink.h"
#include "report_test_support.h"

using namespace fabricbench;
using test::TemporaryFolder;
using test::text_of;

namespace output_file_test {

template <typename Action>
std::string refusal(ExitStatus status, Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status);
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return "";
}

std::string refused(const std::string& path) {
  return refusal(ExitStatus::kUsage, [&] { const OutputFile file(path, false); });
}

TEST(OutputFile, IsThereToReadAfterEachPiece) {
  const TemporaryFolder folder;
  OutputFile file(folder.file("new"), false);
  EXPECT_EQ(text_of(folder.file("new")), "");
  file.write("one\n");
  EXPECT_EQ(text_of(folder.file("new")), "one\n");
  file.write("");
  file.write("two\n");
  EXPECT_EQ(text_of(folder.file("new")), "one\ntwo\n");
}

TEST(OutputFile, IsWrittenOnAfterAMove) {
  const TemporaryFolder folder;
  OutputFile file(folder.file("new"), false);
  file.write("one\n");
  OutputFile moved(std::move(file));
  moved.write("two\n");
  EXPECT_EQ(text_of(folder.file("new")), "one\ntwo\n");
}

TEST(OutputFile, ThatWasRemovedIsNoResult) {
  const TemporaryFolder folder;
  OutputFile file(folder.file("new"), false);
  file.write("one\n");
  file.sync();
  std::filesystem::remove(folder.file("new"));
  EXPECT_EQ(
      refusal(ExitStatus::kFailure, [&] { file.sync(); }),
      folder.file("new") + " was removed while it was written, or replaced by another run, and its results are lost");
}

TEST(OutputFile, ThatAnotherRunReplacesIsNoResultAndNotMixed) {
  const TemporaryFolder folder;
  const std::string path = folder.file("one");
  OutputFile first(path, true);
  first.write("first\n");
  OutputFile second(path, true);
  second.write("second\n");
  first.write("first again\n");
  EXPECT_EQ(text_of(path), "second\n");
  second.sync();
  EXPECT_NE(refusal(ExitStatus::kFailure, [&] { first.sync(); }).find("replaced by another run"), std::string::npos);
}

TEST(OutputFile, ThatALinkLeadsToIsReplacedAndTheLinkStays) {
  const TemporaryFolder folder;
  const std::string link = folder.file("link");
  const std::string path = folder.file("target");
  OutputFile old(path, false);
  old.write("old\n");
  std::filesystem::create_symlink(path, link);
  OutputFile(link, true).write("new\n");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(text_of(path), "new\n");
  EXPECT_NE(refusal(ExitStatus::kFailure, [&] { old.sync(); }), "");
}

TEST(OutputFile, ThatAStreamLeadsToKeepsItsName) {
  const TemporaryFolder folder;
  const std::string path = folder.file("stream");
  OutputFile(path, false).write("old\n");
  const int kept = dup(STDIN_FILENO);
  ASSERT_NE(std::freopen(path.c_str(), "r", stdin), nullptr);
  OutputFile(path, true).write("new\n");
  struct stat named {};
  struct stat own {};
  EXPECT_EQ(stat(path.c_str(), &named), 0);
  EXPECT_EQ(fstat(STDIN_FILENO, &own), 0);
  EXPECT_EQ(named.st_ino, own.st_ino);
  EXPECT_EQ(text_of(path), "new\n");
  dup2(kept, STDIN_FILENO);
  close(kept);
}

TEST(OutputFile, ThatExistsIsRefusedAndLeftAsItIs) {
  const TemporaryFolder folder;
  const std::string path = folder.file("old");
  OutputFile(path, false).write("precious");
  EXPECT_EQ(refused(path), "'" + path + "' exists; give another name, or --force to overwrite it");
  EXPECT_EQ(text_of(path), "precious");
}

TEST(OutputFile, ThatExistsIsOverwrittenByForce) {
  const TemporaryFolder folder;
  const std::string path = folder.file("old");
  OutputFile(path, false).write("a long text that must go\n");
  OutputFile(path, true).write("new\n");
  EXPECT_EQ(text_of(path), "new\n");
}

TEST(OutputFile, ThatCannotBeMadeIsRefusedWithTheReason) {
  const TemporaryFolder folder;
  const std::string path = folder.file("no/such/folder");
  EXPECT_EQ(refused(path),
            "cannot write '" + path + "': No such file or directory; give a file in a folder that you may write to");
  const std::string message = refusal(ExitStatus::kUsage, [&] { const OutputFile file(folder.file(""), true); });
  EXPECT_NE(message.find("Is a directory"), std::string::npos) << message;
}

TEST(OutputFile, OnAFullDiskEndsTheProgram) {
  OutputFile file("/dev/full", true);
  EXPECT_EQ(refusal(ExitStatus::kFailure, [&] { file.write("lost\n"); }),
            "cannot write to /dev/full: No space left on device");
  OutputFile large("/dev/full", true);
  EXPECT_EQ(refusal(ExitStatus::kFailure, [&] { large.write(std::string(1 << 20, 'x')); }),
            "cannot write to /dev/full: No space left on device");
}

/// While it lives, files may not become larger.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

TEST(OutputFile, HoldsWholePiecesOnlyWhenTheDiskFillsUp) {
  const TemporaryFolder folder;
  const std::string path = folder.file("cut");
  OutputFile file(path, false);
  file.write("whole\n");
  {
    const FileSizeLimit limit(10);
    EXPECT_EQ(refusal(ExitStatus::kFailure, [&] { file.write("too long\n"); }),
              "cannot write to " + path + ": File too large");
    EXPECT_EQ(text_of(path), "whole\n");
    file.write("ok\n");
  }
  file.write("more\n");
  EXPECT_EQ(text_of(path), "whole\nok\nmore\n");
}

TEST(OutputFile, IsClosedOnce) {
  const TemporaryFolder folder;
  OutputFile file(folder.file("new"), false);
  file.write("all\n");
  file.close();
  EXPECT_EQ(text_of(folder.file("new")), "all\n");
  OutputFile("/dev/null", true).close();
}

/// Fails where it is told to, and remembers what it was told.
class Recorder final : public Sink {
 public:
  Recorder(std::vector<std::string>& told, bool fails) : told_(told), fails_(fails) {}
  void begin(const Context& /*context*/) override {}
  void record(const AnyRecord& /*record*/) override {}
  void end(const Ending& ending) override { tell("end", ending); }
  void abandon(const Ending& ending) override { tell("abandoned", ending); }

 private:
  void tell(const std::string& what, const Ending& ending) {
    told_.push_back(what + " " + std::to_string(ending.exit_status) + ending.reason);
    if (fails_) throw Error(ExitStatus::kFailure, "full");
  }

  std::vector<std::string>& told_;
  bool fails_;
};

TEST(Outputs, AfterOneThatCannotBeWrittenSayThatTheRunFailed) {
  std::vector<std::string> told;
  Outputs outputs;
  for (const bool fails : {false, true, false, true}) outputs.add(std::make_unique<Recorder>(told, fails));
  EXPECT_EQ(refusal(ExitStatus::kFailure, [&] { outputs.end({}); }), "full");
  EXPECT_EQ(told, (std::vector<std::string>{"end 0", "end 0", "abandoned 1full", "abandoned 1full"}));
}

TEST(Outputs, EndOnce) {
  std::vector<std::string> told;
  Outputs outputs;
  outputs.add(std::make_unique<Recorder>(told, true));
  outputs.add(std::make_unique<Recorder>(told, false));
  Ending ending;
  ending.exit_status = 4;
  EXPECT_EQ(refusal(ExitStatus::kFailure, [&] { outputs.abandon(ending); }), "full");
  EXPECT_EQ(told, (std::vector<std::string>{"abandoned 4", "abandoned 4"}));
  outputs.abandon(ending);
  outputs.end(ending);
  EXPECT_EQ(told.size(), 2U);
}

TEST(OutputFile, OfStandardOutputWritesThere) {
  testing::internal::CaptureStdout();
  OutputFile::standard_output().write("to the screen\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "to the screen\n");
}

}  // namespace output_file_test
