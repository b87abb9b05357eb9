// What a program does when a signal ends it.

#include "common/watch/interruption.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace fabricbench {
namespace {

void say(int number, const std::string& name) { fmt::print(stderr, "told of {}, {}\n", number, name); }

TEST(Interruption, ActsBeforeTheSignalEndsTheProgram) {
  for (const auto& [number, name] : {std::pair(SIGINT, "SIGINT"), std::pair(SIGTERM, "SIGTERM"),
                                     std::pair(SIGHUP, "SIGHUP"), std::pair(SIGUSR1, "SIGUSR1")}) {
    EXPECT_EXIT(
        {
          const Interruption interruption(say);
          std::raise(number);
          for (;;) pause();
        },
        testing::KilledBySignal(number), fmt::format("told of {}, {}\n", number, name));
  }
}

TEST(Interruption, ActsOnce) {
  const auto and_again = [](int number, const std::string& name) {
    say(number, name);
    std::raise(SIGINT);
  };
  EXPECT_EXIT(
      {
        const Interruption interruption(and_again);
        std::raise(SIGTERM);
        for (;;) pause();
      },
      testing::KilledBySignal(SIGTERM), "^told of [0-9]+, SIGTERM\n$");
}

TEST(Interruption, LeavesTimeToOthersUnlessToldAgain) {
  constexpr Seconds kLong = 1000;
  const auto later = [](int /*number*/, const std::string& /*name*/) {
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      fmt::print(stderr, "still there\n");
      std::raise(SIGTERM);
    }).detach();
  };
  EXPECT_EXIT(
      {
        const Interruption interruption(later, kLong);
        std::raise(SIGUSR1);
        for (;;) pause();
      },
      testing::KilledBySignal(SIGUSR1), "^still there\n$");
}

TEST(Interruption, LeavesIgnoredSignalsIgnored) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);  // as nohup(1) does
        const Interruption interruption(say);
        std::raise(SIGHUP);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "^$");
}

TEST(Interruption, PutsBackWhatWasThere) {
  struct sigaction before {};
  struct sigaction after {};
  const auto other = [](int /*number*/) {};
  const auto was = std::signal(SIGTERM, other);
  sigaction(SIGTERM, nullptr, &before);
  { const Interruption interruption(say); }
  sigaction(SIGTERM, nullptr, &after);
  std::signal(SIGTERM, was);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

}  // namespace
}  // namespace fabricbench
