#include "common/backends/cuda/device.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/core/error.h"

using namespace fabricbench;
using namespace fabricbench::cuda;

namespace device_choice_test {

using Devices = std::vector<std::vector<int>>;
using Uuids = std::vector<std::string>;

const Uuids kFour{"a", "b", "c", "d"};

ProcessDevices process(std::uint64_t host, Uuids uuids, int needed = 1) {
  return {host, "node-" + std::to_string(host), std::move(uuids), needed};
}

std::string message_of(const std::vector<ProcessDevices>& processes, std::optional<std::int64_t> first_device) {
  try {
    (void)choose_devices(processes, first_device);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    return error.what();
  }
  return "no error";
}

TEST(DeviceChoice, GivesEachLocalRankItsOwnOfOneSet) {
  const std::vector<ProcessDevices> processes{process(1, kFour), process(2, kFour), process(1, kFour),
                                              process(2, kFour)};
  const DeviceChoice choice = choose_devices(processes, std::nullopt);
  EXPECT_EQ(choice.devices, (Devices{{0}, {0}, {1}, {1}}));
  EXPECT_EQ(choice.notice, "");
}

TEST(DeviceChoice, GivesEachProcessAsManyAsItNeeds) {
  const std::vector<ProcessDevices> processes{process(1, kFour, 2), process(1, kFour, 2)};
  EXPECT_EQ(choose_devices(processes, std::nullopt).devices, (Devices{{0, 1}, {2, 3}}));
}

TEST(DeviceChoice, BeginsAtTheFirstWhereEachSeesASetOfItsOwn) {
  const std::vector<ProcessDevices> processes{process(1, {"a"}), process(1, {"b"}), process(1, {"c"})};
  const DeviceChoice choice = choose_devices(processes, std::nullopt);
  EXPECT_EQ(choice.devices, (Devices{{0}, {0}, {0}}));
  EXPECT_EQ(choice.notice, "");
}

TEST(DeviceChoice, TakesTurnsAmongThoseThatSeeTheSame) {
  const std::vector<ProcessDevices> processes{process(1, {"a", "b"}), process(1, {"c", "d"}), process(1, {"a", "b"}),
                                              process(1, {"c", "d"})};
  EXPECT_EQ(choose_devices(processes, std::nullopt).devices, (Devices{{0}, {0}, {1}, {1}}));
}

TEST(DeviceChoice, TakesAnotherOrderForTheSameSet) {
  const std::vector<ProcessDevices> processes{process(1, {"a", "b", "c"}), process(1, {"b", "c", "a"}),
                                              process(1, {"c", "a", "b"})};
  const DeviceChoice choice = choose_devices(processes, std::nullopt);
  EXPECT_EQ(choice.devices, (Devices{{0}, {0}, {0}})) << "devices a, b and c";
  EXPECT_EQ(choice.notice, "");
}

TEST(DeviceChoice, SaysWhoSharesWhereSetsOverlap) {
  const std::vector<ProcessDevices> processes{process(1, {"a", "b"}), process(1, {"a"})};
  const DeviceChoice choice = choose_devices(processes, std::nullopt);
  EXPECT_EQ(choice.devices, (Devices{{0}, {0}}));
  EXPECT_EQ(choice.notice,
            "Processes share 1 CUDA device, such as processes 0 and 1 of host node-1: the figures show how they share");
}

TEST(DeviceChoice, StartsEveryProcessAtTheDeviceAskedFor) {
  const std::vector<ProcessDevices> processes{process(1, kFour), process(2, kFour), process(1, kFour, 2)};
  const DeviceChoice choice = choose_devices(processes, 1);
  EXPECT_EQ(choice.devices, (Devices{{1}, {1}, {1, 2}}));
  EXPECT_EQ(choice.notice,
            "Processes share 1 CUDA device, such as processes 0 and 2 of host node-1: the figures show how they share");
  EXPECT_THROW((void)choose_devices(processes, -1), UsageError);
}

TEST(DeviceChoice, NamesWhoHasTooFew) {
  const std::vector<ProcessDevices> processes{process(1, kFour), process(2, {"a", "b"}, 2), process(2, {"a", "b"}, 2)};
  const std::string message = message_of(processes, std::nullopt);
  EXPECT_EQ(message,
            "cuda: process 2 on node-2 sees 2 CUDA devices, but the processes that see the same need 4; start fewer "
            "processes on a host, lower -g, show them more devices in CUDA_VISIBLE_DEVICES, or let all use the same "
            "with --device 0");
}

TEST(DeviceChoice, SaysHowProcessesMayShareADevice) {
  try {
    (void)choose_devices(std::vector{process(1, {"a"}), process(1, {"a"})}, std::nullopt, "--device 0 and a variable");
    FAIL() << "two processes on one device, unasked";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).ends_with("or let all use the same with --device 0 and a variable"))
        << error.what();
  }
}

TEST(DeviceChoice, NamesWhoHasNone) {
  const std::string message = message_of({process(1, {"a"}), process(2, {})}, std::nullopt);
  EXPECT_EQ(message.find("cuda: process 1 on node-2 sees 0 CUDA devices, but"), 0U) << message;
}

TEST(DeviceChoice, NamesWhoHasTooFewFromTheDeviceAskedFor) {
  const std::string message = message_of({process(1, kFour, 2), process(2, {"a"}, 2)}, 0);
  EXPECT_EQ(message.find("cuda: process 1 on node-2 sees 1 CUDA device, but --device 0 and 2 for each process need 2;"),
            0U)
      << message;
}

}  // namespace device_choice_test
