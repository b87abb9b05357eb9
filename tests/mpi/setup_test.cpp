// What is settled before anything is measured, over a library that carries messages of so many bytes at most.

#include "common/engine/setup.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "common/core/error.h"
#include "harness_fakes.h"

namespace fabricbench {
namespace {

constexpr Bytes kMost = 4096;

class ShortMessages final : public IdleSession {
 public:
  [[nodiscard]] std::optional<Bytes> most_bytes() const override { return kMost; }
};

class SessionsOfShortMessages final : public Sessions {
 public:
  [[nodiscard]] BackendChoice open(const Team& /*team*/, const ProcessLocation& /*placed*/, const Options& /*options*/,
                                   const Test& /*test*/) const override {
    return {std::make_unique<ShortMessages>(), "fake", "of the test"};
  }
};

/// For messages from `least` to `most` bytes.
Setup set_up_for(const mpi::Communicator& world, Bytes least, Bytes most) {
  AllReduce operation;
  Options options;
  options.sizes = {least, most, 0, 2};
  return set_up(world, world.rank(), operation, SessionsOfShortMessages(), options);
}

/// The first notice that begins with `word`; empty where none does.
std::string notice(const Setup& setup, const std::string& word) {
  for (const std::string& text : setup.notices) {
    if (text.starts_with(word)) return text;
  }
  return "";
}

TEST(SetUp, KeepsSizesThatTheLibraryCarries) {
  const mpi::Communicator world = mpi::Communicator::world();
  for (const Bytes most : {kMost / 2, kMost}) {
    const auto setup = set_up_for(world, 1024, most);
    EXPECT_EQ(setup.options.sizes.max_bytes, most);
    EXPECT_EQ(notice(setup, "Lowered"), "");
  }
}

TEST(SetUp, LowersTheLastSizeToTheMostThatTheLibraryCarries) {
  const mpi::Communicator world = mpi::Communicator::world();
  const auto setup = set_up_for(world, kMost, 2 * kMost);
  EXPECT_EQ(setup.options.sizes.max_bytes, kMost);
  EXPECT_EQ(notice(setup, "Lowered"),
            "Lowered: the last message size from 8 KiB to 4 KiB, the largest possible message");
}

TEST(SetUp, RefusesSizesThatTheLibraryDoesNotCarry) {
  const mpi::Communicator world = mpi::Communicator::world();
  try {
    (void)set_up_for(world, kMost + 16, 2 * kMost);
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "a message of 4112 was asked for, but fake carries at most 4096 bytes; choose a smaller size");
  }
}

}  // namespace
}  // namespace fabricbench
