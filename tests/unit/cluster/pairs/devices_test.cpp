// Devices that go from host to host: what is blamed, and what is not.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attribution_test_support.h"
#include "cluster/pairs/report/verdict_text.h"
#include "common/core/plain_text.h"
#include "device_sweeps.h"

namespace fabricbench::cluster {
namespace devices_test {

/// What came of sweeps.
struct Tally {
  int sweeps = 0;
  int found = 0;
  int innocents = 0;  ///< findings of anything that was not planted
  std::string first_wrong;
};

bool is_planted(const Finding& finding, const DeviceSweep& made) {
  if (finding.blame == Blame::kHost) return finding.hosts[0] == made.host;
  const auto& devices = finding.devices;
  return finding.blame == Blame::kDevice && made.device >= 0 &&
         std::find(devices.begin(), devices.end(), made.device) != devices.end();
}

/// Judges a sweep for each seed; those in which no two hosts had the bad device are left out.
Tally tally(DeviceCase what, int sweeps) {
  Tally result;
  const bool of_device = what.planted == Planted::kNic || what.planted == Planted::kGpu;
  for (int i = 0; i < sweeps; ++i) {
    what.seed = static_cast<unsigned>(i + 1);
    const DeviceSweep made = device_sweep(what);
    if (of_device && what.sharing != Sharing::kWithin && made.hosts_of_device.size() < 2) continue;
    const Verdict verdict = judge(made.sweep);
    ++result.sweeps;
    bool found = false;
    for (const Finding& finding : verdict.findings) {
      const bool right = is_planted(finding, made);
      found = found || right;
      result.innocents += right || finding.blame == Blame::kUndecided ? 0 : 1;
      if (!right && result.first_wrong.empty()) result.first_wrong = sentence(made.sweep, verdict, finding);
    }
    result.found += found && verdict.judged == Judged::kSlow ? 1 : 0;
  }
  return result;
}

DeviceCase shared(int hosts, int jobs, Sharing sharing, Planted planted) {
  DeviceCase what;
  what.hosts = hosts;
  what.jobs = jobs;
  what.sharing = sharing;
  what.planted = planted;
  return what;
}

constexpr int kSweeps = 10;

TEST(Devices, SharedByTheHostsOfSeveralJobsAreBlamedAndTheHostsAreNot) {
  for (const Planted planted : {Planted::kNic, Planted::kGpu}) {
    for (const auto& [hosts, jobs] : {std::pair{8, 4}, {16, 3}, {32, 6}}) {
      for (const double noise : {0.01, 0.05}) {
        DeviceCase what = shared(hosts, jobs, Sharing::kTurns, planted);
        what.noise = noise;
        what.cap = 0.7;
        const Tally result = tally(what, kSweeps);
        EXPECT_EQ(result.found, result.sweeps) << hosts << " hosts, noise " << noise;
        EXPECT_EQ(result.innocents, 0) << result.first_wrong;
      }
    }
  }
}

TEST(Devices, OfPodsThatHadNothingElseAreBlamedAndThePodsAreNot) {
  for (const auto& [hosts, jobs] : {std::pair{16, 2}, {24, 3}, {48, 6}}) {
    const Tally result = tally(shared(hosts, jobs, Sharing::kPods, Planted::kNic), kSweeps);
    EXPECT_EQ(result.found, result.sweeps) << hosts << " hosts of " << jobs << " jobs";
    EXPECT_EQ(result.innocents, 0) << result.first_wrong;
  }
}

TEST(Devices, AreFoundAmongGroupsOfHosts) {
  for (const Sharing sharing : {Sharing::kTurns, Sharing::kPods}) {
    DeviceCase what = shared(32, 2, sharing, Planted::kGpu);
    what.across = 0.6;
    for (const double cap : {0.4, 0.7}) {
      what.cap = cap;
      const Tally result = tally(what, kSweeps);
      EXPECT_EQ(result.found, result.sweeps) << "cap " << cap;
      EXPECT_EQ(result.innocents, 0) << result.first_wrong;
    }
  }
}

/// A GPU for each host, by its place.
void give_gpus(const Hosts& gpu_of, Sweep& sweep) {
  const std::int32_t gpus = *std::max_element(gpu_of.begin(), gpu_of.end()) + 1;
  for (std::int32_t gpu = 0; gpu < gpus; ++gpu) {
    sweep.devices.push_back({DeviceKind::kGpu, "GPU-" + std::to_string(gpu), ""});
    sweep.routes.push_back({{Route::kNone, gpu, Route::kNone}, 0});
  }
  for (const Reading& each : sweep.readings) {
    sweep.routes_of.push_back({gpu_of[static_cast<std::size_t>(each.from)], gpu_of[static_cast<std::size_t>(each.to)]});
  }
}

/// Each GPU is of two of eight hosts, as of two pods of a node; of one, half of what is near is slow.
TEST(Devices, ThatHalfOfTheNearReadingsWentOverAreNotWhatIsUsual) {
  for (unsigned seed = 21; seed <= 30; ++seed) {
    FabricPlan plan = clean_fabric(8, {"host:1:0.65", "host:4:0.65"});
    plan.leaf_size = 4;
    plan.leaves_known = false;
    plan.crossing = 0.9;
    plan.outliers = 0.02;
    plan.seed = seed;
    Sweep sweep = again_and_again(plan, 63, false);
    for (const std::int32_t host : {0, 1, 3, 3}) measure_again(plan, {host, 7}, 1, sweep);
    give_gpus({0, 1, 2, 3, 1, 0, 2, 3}, sweep);
    EXPECT_EQ(the_finding(judge(sweep), Blame::kDevice).devices, Hosts{1}) << "seed " << seed;
  }
}

/// What most hosts of one leaf share makes most of the other leaf's readings with it slow.
TEST(Devices, OfMostHostsOfALeafAreBlamedAndTheOtherLeafIsNot) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    FabricPlan plan = clean_fabric(8, {"host:4:0.4:sends", "host:6:0.4:sends", "host:7:0.4:sends"});
    plan.leaf_size = 5;
    plan.crossing = 0.9;
    plan.seed = seed;
    Sweep sweep = again_and_again(plan, 21, false);
    give_gpus({0, 1, 2, 3, 4, 5, 4, 4}, sweep);
    const Verdict verdict = judge(sweep);
    EXPECT_EQ(the_finding(verdict, Blame::kDevice).devices, Hosts{4}) << "seed " << seed;
    EXPECT_EQ(verdict.findings.size(), 1U) << "seed " << seed;
  }
}

TEST(Devices, OfOneHostAmongOthersOfItAreBlamed) {
  DeviceCase what = shared(16, 6, Sharing::kWithin, Planted::kGpu);
  what.seed = 2;
  const DeviceSweep made = device_sweep(what);
  ASSERT_EQ(made.hosts_of_device.size(), 1U);
  const Verdict verdict = judge(made.sweep);
  const Finding finding = the_finding(verdict, Blame::kDevice);
  EXPECT_EQ(finding.devices, Hosts{made.device});
  EXPECT_EQ(finding.hosts, made.hosts_of_device);
  EXPECT_NE(sentence(made.sweep, verdict, finding).find("on 1 of 1 host that used it"), std::string::npos);
}

TEST(Devices, ThatAreSlowOneWayAreNamedWithTheWay) {
  DeviceCase what = shared(16, 4, Sharing::kTurns, Planted::kNic);
  what.receives = false;
  const DeviceSweep made = device_sweep(what);
  const Verdict verdict = judge(made.sweep);
  const Finding finding = the_finding(verdict, Blame::kDevice);
  EXPECT_EQ(finding.direction, Direction::kSends);
  EXPECT_NEAR(finding.ratio, 0.6, 0.03);
  EXPECT_EQ(finding.hosts, made.hosts_of_device);
  EXPECT_EQ(finding.hosts_met, static_cast<std::int64_t>(made.hosts_of_device.size()));
}

TEST(Devices, OfHostsThatShareThemForGoodAreBlamedForTheirWayAlone) {
  int found = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    DeviceCase what = shared(8, 4, Sharing::kPairs, Planted::kNic);
    what.across = 0.5;
    what.cap = seed % 2 == 0 ? 0.2 : 0.4;
    what.receives = false;
    what.seed = seed;
    const DeviceSweep made = device_sweep(what);
    if (made.hosts_of_device.empty()) continue;
    const Finding finding = the_finding(judge(made.sweep), Blame::kDevice);
    EXPECT_EQ(finding.devices, Hosts{made.device}) << "seed " << seed;
    EXPECT_EQ(finding.direction, Direction::kSends) << "seed " << seed;
    ++found;
  }
  EXPECT_GT(found, 5);
}

TEST(Devices, ThatAlwaysGoTogetherAreNamedTogether) {
  DeviceCase what = shared(16, 4, Sharing::kTurns, Planted::kNic);
  what.nic_goes_with_gpu = true;
  const DeviceSweep made = device_sweep(what);
  const Finding finding = the_finding(judge(made.sweep), Blame::kDevice);
  EXPECT_EQ(finding.devices, (Hosts{made.device, made.device + 16}));
}

TEST(Devices, AHostThatIsSlowWithAllItsDevicesIsAHost) {
  for (const Sharing sharing : {Sharing::kTurns, Sharing::kWithin, Sharing::kConstant}) {
    const Tally result = tally(shared(16, 4, sharing, Planted::kHost), kSweeps);
    EXPECT_EQ(result.found, result.sweeps);
    EXPECT_EQ(result.innocents, 0) << result.first_wrong;
  }
}

TEST(Devices, AHostWithTheSameDeviceAlwaysIsAHostWithItsNameBeside) {
  const DeviceSweep made = device_sweep(shared(16, 1, Sharing::kConstant, Planted::kHost));
  const Verdict verdict = judge(made.sweep);
  const Finding finding = the_finding(verdict, Blame::kHost);
  EXPECT_EQ(finding.devices, (Hosts{made.host, made.host + 16})) << "its NIC and its GPU";
  EXPECT_NE(sentence(made.sweep, verdict, finding).find(" (NIC mlx5_0, 0x10"), std::string::npos);
}

TEST(Devices, WithoutANameAreToldByWhatIdentifiesThem) {
  DeviceSweep made = device_sweep(shared(16, 1, Sharing::kConstant, Planted::kHost));
  const Verdict verdict = judge(made.sweep);
  const Finding finding = the_finding(verdict, Blame::kHost);
  Device& nic = made.sweep.devices.at(static_cast<std::size_t>(finding.devices.at(0)));
  for (const std::string& name : {std::string(), nic.id}) {
    nic.name = name;
    EXPECT_NE(sentence(made.sweep, verdict, finding).find(" (NIC " + nic.id + ", GPU"), std::string::npos)
        << sentence(made.sweep, verdict, finding);
  }
}

TEST(Devices, AreBlamedForNothingWhereNothingIsSlow) {
  for (const Sharing sharing : {Sharing::kPods, Sharing::kTurns, Sharing::kWithin, Sharing::kConstant}) {
    for (const double noise : {0.01, 0.05}) {
      DeviceCase what = shared(32, 4, sharing, Planted::kNothing);
      what.noise = noise;
      what.tails = 0.01;
      EXPECT_EQ(tally(what, kSweeps).innocents, 0);
    }
  }
}

TEST(Devices, ThatAreNotKnownChangeNothing) {
  DeviceSweep made = device_sweep(shared(16, 2, Sharing::kConstant, Planted::kHost));
  const Finding with = the_finding(judge(made.sweep), Blame::kHost);
  made.sweep.routes_of.clear();
  const Finding without = the_finding(judge(made.sweep), Blame::kHost);
  EXPECT_EQ(without.false_alarm, with.false_alarm);
  EXPECT_TRUE(without.devices.empty());
}

TEST(Devices, ArePrintedForPeopleAndForScripts) {
  DeviceCase what = shared(16, 4, Sharing::kTurns, Planted::kGpu);
  what.seed = 3;
  const DeviceSweep made = device_sweep(what);
  const Verdict verdict = judge(made.sweep);
  const std::string& id = made.sweep.devices[static_cast<std::size_t>(made.device)].id;
  EXPECT_NE(verdict_lines(made.sweep, verdict).find("Slow GPU: " + id + "\n"), std::string::npos);
  const std::string text = verdict_text(made.sweep, verdict, {}, {});
  EXPECT_NE(text.find("1 GPU is slow; all 16 hosts are fine"), std::string::npos) << text;
  EXPECT_NE(text.find("SLOW GPU     GPU 0000:17:00.0, " + id + " is slow, sending and receiving, on 3 of 3 "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("nvidia-smi -q -i " + id), std::string::npos) << text;
}

TEST(Devices, AHostThatIsSlowByItselfHadThemAndDoesNotSpeakAgainstThem) {
  DeviceSweep made = device_sweep(shared(16, 4, Sharing::kTurns, Planted::kGpu));
  const std::int32_t slow = made.hosts_of_device.front();
  for (Reading& reading : made.sweep.readings) {
    if (reading.from == slow || reading.to == slow) reading.rate = std::min(reading.rate, 10e9F);
  }
  const Verdict verdict = judge(made.sweep);
  const std::vector<Finding> hosts = with_blame(verdict, Blame::kHost);
  ASSERT_EQ(hosts.size(), 1U);
  EXPECT_EQ(hosts[0].hosts, Hosts{slow});
  const std::vector<Finding> devices = with_blame(verdict, Blame::kDevice);
  ASSERT_EQ(devices.size(), 1U);
  const Finding& finding = devices[0];
  EXPECT_EQ(finding.hosts, Hosts(made.hosts_of_device.begin() + 1, made.hosts_of_device.end()));
  EXPECT_EQ(finding.hosts_met, static_cast<std::int64_t>(made.hosts_of_device.size()));
  const std::string all = std::to_string(finding.hosts_met);
  EXPECT_NE(sentence(made.sweep, verdict, finding).find(" of " + all + " hosts that used it ("), std::string::npos);
}

/// What is printed of a GPU that is called so.
std::string text_with_id(const std::string& id) {
  DeviceSweep made = device_sweep(shared(16, 4, Sharing::kTurns, Planted::kGpu));
  made.sweep.devices[static_cast<std::size_t>(made.device)].id = id;
  const Verdict verdict = judge(made.sweep);
  EXPECT_EQ(with_blame(verdict, Blame::kDevice).size(), 1U);
  return verdict_text(made.sweep, verdict, {}, {}) + verdict_lines(made.sweep, verdict);
}

TEST(Devices, AreQuotedInCommands) {
  const std::string id = "GPU-$(reboot)";
  EXPECT_NE(text_with_id(id).find(" nvidia-smi -q -i " + shell_word(shell_word(id)) + "  # "), std::string::npos);
  EXPECT_EQ(text_with_id("--reset").find("nvidia-smi"), std::string::npos) << "it would be an option";
}

TEST(Devices, AreNamedOnOneLineAsOneName) {
  const std::string text = text_with_id("GPU-1\x1b[2K\nSlow: n1,n2");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("\nSlow: "), std::string::npos);
  EXPECT_EQ(text.find("nvidia-smi"), std::string::npos) << "no GPU is called so";
  EXPECT_NE(text.find("Slow GPU: " + listed_name("GPU-1\x1b[2K\nSlow: n1,n2") + "\n"), std::string::npos);
}

}  // namespace devices_test
}  // namespace fabricbench::cluster
