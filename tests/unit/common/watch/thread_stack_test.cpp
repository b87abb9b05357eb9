#include "common/watch/thread_stack.h"

#include <gtest/gtest.h>

#include <csignal>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace fabricbench {
namespace {

/// What another thread reads of one that waits.
std::vector<std::string> stack_of_waiting_thread(bool answers) {
  std::promise<const ThreadStack*> made;
  std::promise<void> end;
  std::thread waiting([&] {
    const ThreadStack stack;
    sigset_t blocked;
    sigemptyset(&blocked);
    if (!answers) sigaddset(&blocked, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    made.set_value(&stack);
    end.get_future().wait();
  });
  std::vector<std::string> lines = made.get_future().get()->read();
  end.set_value();
  waiting.join();
  return lines;
}

TEST(ThreadStack, HasTheFunctionsInWhichTheThreadIs) {
  const std::vector<std::string> lines = stack_of_waiting_thread(true);
  ASSERT_GE(lines.size(), 3U);
  bool in_library = false;
  for (const std::string& line : lines) {
    EXPECT_EQ(line.find("keep_frames"), std::string::npos) << line;
    in_library = in_library || line.find("libc.so") != std::string::npos;
  }
  EXPECT_TRUE(in_library) << lines.front();
}

TEST(ThreadStack, SaysThatTheThreadDoesNotAnswer) {
  const std::vector<std::string> lines = stack_of_waiting_thread(false);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].rfind("no stack: the thread does not answer", 0), 0U) << lines[0];
}

}  // namespace
}  // namespace fabricbench
