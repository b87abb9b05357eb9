#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/host/identity.h"
#include "common/host/usage.h"
#include "fake_root.h"

using namespace fabricbench::host;
using fabricbench::test::FakeRoot;

namespace host_test {

const std::string kBootIdFile = "proc/sys/kernel/random/boot_id";

void write_identity(const FakeRoot& root, const std::string& boot, const std::string& cgroup) {
  root.write(kBootIdFile, boot + "\n");
  root.link("proc/self/ns/time", "time:[1]");
  root.link("proc/self/ns/cgroup", "cgroup:[1]");
  root.write("proc/self/cgroup", "0::" + cgroup + "\n");
}

void write_limit(const FakeRoot& root, const std::string& cgroup, const std::string& limit) {
  root.write("sys/fs/cgroup" + cgroup + "/memory.max", limit + "\n");
  root.write("sys/fs/cgroup" + cgroup + "/memory.current", "10\n");
}

constexpr std::int64_t kManySwitches = 20;

// Keeps two threads busy on the same processor until both have been preempted often, or for five
// seconds, and returns the smaller of their counts.
std::int64_t switches_of_two_threads_on_one_processor() {
  std::array<std::atomic<std::int64_t>, 2> counts{};
  const int processor = sched_getcpu();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  const auto spin = [&](std::size_t self) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(processor, &only);
    if (sched_setaffinity(0, sizeof only, &only) != 0) return;
    while (std::min(counts[0].load(), counts[1].load()) < kManySwitches &&
           std::chrono::steady_clock::now() < deadline) {
      counts[self] = involuntary_context_switches();
    }
  };
  std::thread first(spin, 0);
  std::thread second(spin, 1);
  first.join();
  second.join();
  return std::min(counts[0].load(), counts[1].load());
}

TEST(Identity, OfThisMachine) {
  EXPECT_FALSE(host_name().empty());
  EXPECT_FALSE(kernel_release().empty());
  EXPECT_FALSE(processor_model().empty());
  EXPECT_EQ(boot_id().size(), 36U);
  EXPECT_EQ(clock_domain(), clock_domain());
  EXPECT_EQ(std::set({clock_domain(), network_domain(), memory_domain(), cgroup_domain()}).size(), 4U);
}

TEST(Identity, BootIdThrowsWithThePathWhereItIsMissingOrEmpty) {
  const FakeRoot root;
  EXPECT_THROW((void)clock_domain(root.path()), std::runtime_error);
  EXPECT_THROW((void)network_domain(root.path()), std::runtime_error);
  EXPECT_THROW((void)memory_domain(root.path()), std::runtime_error);
  EXPECT_THROW((void)cgroup_domain(root.path()), std::runtime_error);
  root.write(kBootIdFile, "\n");
  try {
    (void)boot_id(root.path());
    ADD_FAILURE() << "accepted an empty boot_id";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find((root.path() / kBootIdFile).string()), std::string::npos);
  }
}

TEST(Identity, MemoryDomainIsTheHashOfTheBoot) {
  const FakeRoot root;
  write_identity(root, "b00t", "/");
  EXPECT_EQ(boot_id(root.path()), "b00t");
  // FNV-1a of "memory\0b00t\0", worked out apart from this code.
  EXPECT_EQ(memory_domain(root.path()), 0x82b0b4a00dba040cU);
}

TEST(Identity, DomainsDifferBetweenBootsAndAgreeWithinOne) {
  const FakeRoot here;
  const FakeRoot also_here;
  const FakeRoot elsewhere;
  write_identity(here, "boot-1", "/job");
  write_identity(also_here, "boot-1", "/job");
  write_identity(elsewhere, "boot-2", "/job");
  EXPECT_EQ(clock_domain(here.path()), clock_domain(also_here.path()));
  EXPECT_EQ(network_domain(here.path()), network_domain(also_here.path()));
  EXPECT_EQ(memory_domain(here.path()), memory_domain(also_here.path()));
  EXPECT_EQ(cgroup_domain(here.path()), cgroup_domain(also_here.path()));
  EXPECT_NE(clock_domain(here.path()), clock_domain(elsewhere.path()));
  EXPECT_NE(network_domain(here.path()), network_domain(elsewhere.path()));
  EXPECT_NE(memory_domain(here.path()), memory_domain(elsewhere.path()));
  EXPECT_NE(cgroup_domain(here.path()), cgroup_domain(elsewhere.path()));
}

TEST(Identity, TimeNamespaceChangesOnlyTheClockDomain) {
  const FakeRoot root;
  write_identity(root, "boot", "/job");
  const auto clock = clock_domain(root.path());
  const auto memory = memory_domain(root.path());
  const auto cgroup = cgroup_domain(root.path());
  root.link("proc/self/ns/time", "time:[2]");
  EXPECT_NE(clock_domain(root.path()), clock);
  EXPECT_EQ(memory_domain(root.path()), memory);
  EXPECT_EQ(cgroup_domain(root.path()), cgroup);
  root.remove("proc/self/ns/time");
  EXPECT_NE(clock_domain(root.path()), clock);
}

TEST(Identity, NetworkNamespaceChangesOnlyTheNetworkDomain) {
  const FakeRoot root;
  write_identity(root, "boot", "/job");
  root.link("proc/self/ns/net", "net:[1]");
  const auto clock = clock_domain(root.path());
  const auto network = network_domain(root.path());
  root.remove("proc/self/ns/net");
  root.link("proc/self/ns/net", "net:[2]");
  EXPECT_NE(network_domain(root.path()), network);
  EXPECT_EQ(clock_domain(root.path()), clock);
}

TEST(Identity, CgroupDomainFollowsThePathAndTheNamespaceWithoutLimits) {
  const FakeRoot root;
  std::set<std::uint64_t> domains;
  for (const std::string cgroup : {"/", "/a", "/b"}) {
    write_identity(root, "boot", cgroup);
    domains.insert(cgroup_domain(root.path()));
    root.link("proc/self/ns/cgroup", "cgroup:[2]");
    domains.insert(cgroup_domain(root.path()));
  }
  EXPECT_EQ(domains.size(), 6U);
}

TEST(Identity, CgroupDomainIsTheLimitedAncestorThatTasksShare) {
  const FakeRoot task0;
  const FakeRoot task1;
  write_identity(task0, "boot", "/job_1/task_0");
  write_identity(task1, "boot", "/job_1/task_1");
  write_limit(task0, "/job_1/task_0", "max");
  write_limit(task1, "/job_1/task_1", "max");
  EXPECT_NE(cgroup_domain(task0.path()), cgroup_domain(task1.path()));
  write_limit(task0, "/job_1", "1000");
  write_limit(task1, "/job_1", "1000");
  EXPECT_EQ(cgroup_domain(task0.path()), cgroup_domain(task1.path()));
  // Room for as much in the task as in the job: the job's is the limit that both share.
  write_limit(task0, "/job_1/task_0", "1000");
  EXPECT_EQ(cgroup_domain(task0.path()), cgroup_domain(task1.path()));
  write_limit(task0, "/job_1/task_0", "500");
  EXPECT_NE(cgroup_domain(task0.path()), cgroup_domain(task1.path()));
}

TEST(Identity, CgroupDomainTellsContainersApartWhosePathIsNotMounted) {
  const FakeRoot first;
  const FakeRoot second;
  write_identity(first, "boot", "/docker/1");
  write_identity(second, "boot", "/docker/2");
  write_limit(first, "", "1000");
  write_limit(second, "", "1000");
  EXPECT_NE(cgroup_domain(first.path()), cgroup_domain(second.path()));
}

TEST(Identity, ProcessorModel) {
  const FakeRoot root;
  const std::string architecture = processor_model(root.path());
  EXPECT_FALSE(architecture.empty());
  root.write("proc/cpuinfo", "processor\t: 0\nmodel\t\t: 1\nmodel name\t: Some CPU @ 2.00GHz\n");
  EXPECT_EQ(processor_model(root.path()), "Some CPU @ 2.00GHz");
  root.write("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
  EXPECT_EQ(processor_model(root.path()), "CPU implementer 0x41 part 0xd4f");
  root.write("proc/cpuinfo", "processor\t: 0\nmodel name\t:\nhart\t: 0\n");
  EXPECT_EQ(processor_model(root.path()), architecture);
}

TEST(Usage, CountsInvoluntarySwitchesOfTheCallingThreadOnly) {
  const auto before = involuntary_context_switches();
  EXPECT_GE(before, 0);
  const auto elsewhere = switches_of_two_threads_on_one_processor();
  // This thread only waited meanwhile, which is voluntary.
  if (elsewhere < kManySwitches) GTEST_SKIP() << "this kernel preempted no thread in 5 seconds";
  EXPECT_LT(involuntary_context_switches() - before, kManySwitches);
}

TEST(Usage, PeakResidentBytesGrowsWithTouchedMemory) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  constexpr std::size_t kPageBytes = 4096;
  EXPECT_GT(peak_resident_bytes().value(), 0U);
  std::vector<char> memory(kBytes);
  // Writes through a volatile pointer are kept; the compiler may leave out memory that is not used.
  volatile char* const touched = memory.data();
  for (std::size_t offset = 0; offset < kBytes; offset += kPageBytes) touched[offset] = 'x';
  EXPECT_GE(peak_resident_bytes().value(), kBytes);
  EXPECT_EQ(peak_resident_bytes(FakeRoot().path()), std::nullopt);
}

TEST(Usage, ProcessorTimeIsThatOfTheCallingThread) {
  const double before = processor_time();
  while (processor_time() - before < 1e-3) {
  }
  double of_another = 1;
  std::thread([&] { of_another = processor_time(); }).join();
  EXPECT_LT(of_another, processor_time());
}

TEST(Usage, ProcessorWaitIsTheSecondNumberInNanoseconds) {
  const FakeRoot root;
  EXPECT_EQ(processor_wait(root.path()), std::nullopt);
  root.write("proc/thread-self/schedstat", "123456789 2500000000 17\n");
  EXPECT_EQ(processor_wait(root.path()), 2.5);
  root.write("proc/thread-self/schedstat", "123456789\n");
  EXPECT_EQ(processor_wait(root.path()), std::nullopt);
}

TEST(Usage, StolenTicksIsTheEighthNumberOfAllProcessors) {
  const FakeRoot root;
  EXPECT_EQ(stolen_ticks(root.path()), std::nullopt);
  root.write("proc/stat", "cpu  1 2 3 4 5 6 7 42 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
  EXPECT_EQ(stolen_ticks(root.path()), 42U);
  for (const std::string text :
       {"cpu  1 2 3 4 5 6 7\n", "cpu  1 2 3 4 5 6 7 x\n", "cpu\n", "cpu0 1 2 3 4 5 6 7 8 9\n", ""}) {
    root.write("proc/stat", text);
    EXPECT_EQ(stolen_ticks(root.path()), std::nullopt) << text;
  }
}

TEST(Usage, StolenTicksOfThisMachineDoNotDecrease) {
  const auto before = stolen_ticks();
  ASSERT_TRUE(before.has_value());
  EXPECT_GE(stolen_ticks(), before);
}

}  // namespace host_test
