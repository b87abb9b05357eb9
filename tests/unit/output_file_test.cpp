#include "common/report/output_file.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "common/core/error.h"
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

TEST(OutputFile, OfStandardOutputWritesThere) {
  testing::internal::CaptureStdout();
  OutputFile::standard_output().write("to the screen\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "to the screen\n");
}

}  // namespace output_file_test
