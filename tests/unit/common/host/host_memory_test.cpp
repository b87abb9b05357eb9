#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include "common/host/memory.h"
#include "fake_root.h"

using fabricbench::host::free_memory;
using fabricbench::host::FreeMemory;
using fabricbench::test::FakeRoot;

namespace host_memory_test {

constexpr std::uint64_t kMachineBytes = 1024 * 1000;

struct EndpointLevel {
  std::string limit;
  std::string usage;
  std::string inactive_file;
};

// A machine with kMachineBytes available and a process in the cgroups that `cgroups` lists.
void write_machine(const FakeRoot& root, const std::string& cgroups) {
  root.write("proc/meminfo", "MemTotal:           2000 kB\nMemFree:             900 kB\nMemAvailable:       1000 kB\n");
  root.write("proc/self/cgroup", cgroups);
}

void write_version2(const FakeRoot& root, const std::string& cgroup, const EndpointLevel& level) {
  const std::string directory = "sys/fs/cgroup" + cgroup;
  root.write(directory + "/memory.max", level.limit + "\n");
  root.write(directory + "/memory.current", level.usage + "\n");
  root.write(directory + "/memory.stat",
             "anon 77\ninactive_file_other 5\ninactive_file " + level.inactive_file + "\nfile 1\n");
}

void write_version1(const FakeRoot& root, const std::string& cgroup, const EndpointLevel& level) {
  const std::string directory = "sys/fs/cgroup/memory" + cgroup;
  root.write(directory + "/memory.limit_in_bytes", level.limit + "\n");
  root.write(directory + "/memory.usage_in_bytes", level.usage + "\n");
  root.write(directory + "/memory.stat", "inactive_file 1\ntotal_inactive_file " + level.inactive_file + "\n");
}

TEST(FreeMemory, IsMemAvailableWhereThereAreNoCgroups) {
  const FakeRoot root;
  write_machine(root, "");
  root.remove("proc/self/cgroup");
  const FreeMemory memory = free_memory(root.path());
  EXPECT_EQ(memory.machine_bytes, kMachineBytes);
  EXPECT_EQ(memory.cgroup_bytes, std::nullopt);
  EXPECT_EQ(memory.source, "/proc/meminfo");
}

TEST(FreeMemory, ThrowsWithThePathWhereMemAvailableIsMissingOrMalformed) {
  const FakeRoot root;
  EXPECT_THROW((void)free_memory(root.path()), std::runtime_error);
  for (const std::string text : {"MemTotal: 5 kB\n", "MemAvailable:\n", "MemAvailable: 12\n", "MemAvailable: -3 kB\n",
                                 "MemAvailable: 12 MB\n"}) {
    root.write("proc/meminfo", text);
    try {
      (void)free_memory(root.path());
      ADD_FAILURE() << "accepted " << text;
    } catch (const std::runtime_error& error) {
      const std::string file = (root.path() / "proc/meminfo").string();
      EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
    }
  }
}

TEST(FreeMemory, Version2AddsInactiveFilePagesToTheRoomLeft) {
  const FakeRoot root;
  write_machine(root, "0::/job\n");
  write_version2(root, "/job", {"1000", "700", "200"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 500U);
  EXPECT_EQ(free_memory(root.path()).source, "/sys/fs/cgroup/job/memory.max");
}

TEST(FreeMemory, Version2TakesTheTightestOfAllAncestors) {
  const FakeRoot root;
  write_machine(root, "0::/slurm/job_7/task_0\n");
  root.make_directory("sys/fs/cgroup");
  write_version2(root, "/slurm", {"9000", "2000", "0"});
  write_version2(root, "/slurm/job_7", {"3000", "1900", "100"});
  write_version2(root, "/slurm/job_7/task_0", {"max", "50", "0"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 1200U);
  EXPECT_EQ(free_memory(root.path()).source, "/sys/fs/cgroup/slurm/job_7/memory.max");
  write_version2(root, "/slurm", {"2100", "2000", "0"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 100U);
  write_version2(root, "/slurm/job_7/task_0", {"60", "50", "0"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 10U);
}

TEST(FreeMemory, NamesTheMachineWhereTheCgroupLeavesMoreRoom) {
  const FakeRoot root;
  write_machine(root, "0::/job\n");
  write_version2(root, "/job", {"99999999", "0", "0"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 99999999U);
  EXPECT_EQ(free_memory(root.path()).source, "/proc/meminfo");
}

TEST(FreeMemory, Version2WithoutLimits) {
  const FakeRoot root;
  write_machine(root, "0::/user/session\n");
  write_version2(root, "/user", {"max", "700", "0"});
  write_version2(root, "/user/session", {"max", "700", "0"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, std::nullopt);
}

TEST(FreeMemory, IsZeroAndNotNegativeAboveTheLimit) {
  const FakeRoot root;
  write_machine(root, "0::/job\n");
  write_version2(root, "/job", {"1000", "1500", "100"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 0U);
  write_version2(root, "/job", {"0", "0", "0"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 0U);
}

TEST(FreeMemory, NeverExceedsTheLimitWhereStatisticsDisagree) {
  const FakeRoot root;
  write_machine(root, "0::/job\n");
  write_version2(root, "/job", {"1000", "100", "500"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 1000U);
}

TEST(FreeMemory, Version1ReadsItsOwnFilesAndAncestors) {
  const FakeRoot root;
  write_machine(root, "11:cpu,cpuacct:/elsewhere\n9:hugetlb,memory:/slurm/job\n0::/unified\n");
  write_version1(root, "/slurm", {"3000", "2500", "50"});
  write_version1(root, "/slurm/job", {"2000", "1000", "300"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 550U);
  EXPECT_EQ(free_memory(root.path()).source, "/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes");
}

TEST(FreeMemory, Version1SpellsNoLimitAsAHugeNumber) {
  const FakeRoot root;
  write_machine(root, "4:memory:/\n");
  for (const std::string limit : {"9223372036854771712", "9223372036854710272", "1152921504606846976"}) {
    write_version1(root, "", {limit, "10", "0"});
    EXPECT_EQ(free_memory(root.path()).cgroup_bytes, std::nullopt) << limit;
  }
  write_version1(root, "", {"1152921504606846975", "0", "0"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 1152921504606846975U);
}

TEST(FreeMemory, Version2BesideVersion1IsMountedAsUnified) {
  const FakeRoot root;
  write_machine(root, "1:name=systemd:/job\n0::/job\n");
  write_version2(root, "/unified/job", {"1000", "400", "0"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 600U);
}

TEST(FreeMemory, ContainerWhosePathIsNotMountedUsesTheMountsRoot) {
  const FakeRoot root;
  write_machine(root, "4:memory:/docker/abc\n");
  write_version1(root, "", {"1000", "400", "0"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 600U);
  write_machine(root, "0::/kubepods/pod1/abc\n");
  write_version2(root, "", {"1000", "300", "0"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 700U);
}

TEST(FreeMemory, APathOutOfTheNamespaceUsesTheMountsRoot) {
  const FakeRoot root;
  write_machine(root, "0::/../other\n");
  write_version2(root, "", {"1000", "300", "0"});
  root.write("sys/fs/other/memory.max", "5\n");
  root.write("sys/fs/other/memory.current", "0\n");
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 700U);
}

TEST(FreeMemory, APathMayHoldColonsAndBlanks) {
  const FakeRoot root;
  write_machine(root, "0::/a:b c\n");
  write_version2(root, "/a:b c", {"1000", "300", "0"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 700U);
}

TEST(FreeMemory, MalformedLevelsCountAsUnlimited) {
  const FakeRoot root;
  write_machine(root, "0::/a/b\n");
  write_version2(root, "/a", {"5000", "1000", "0"});
  for (const std::string limit : {"", "many", "12x", "-1", "99999999999999999999"}) {
    write_version2(root, "/a/b", {limit, "0", "0"});
    EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 4000U) << limit;
  }
  write_version2(root, "/a/b", {"10", "unknown", "0"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 4000U);
  root.remove("sys/fs/cgroup/a/b/memory.max");
  root.make_directory("sys/fs/cgroup/a/b/memory.max");
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 4000U);
}

TEST(FreeMemory, WithoutStatisticsNothingIsReclaimable) {
  const FakeRoot root;
  write_machine(root, "0::/job\n");
  write_version2(root, "/job", {"1000", "700", "lots"});
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 300U);
  root.remove("sys/fs/cgroup/job/memory.stat");
  EXPECT_EQ(free_memory(root.path()).cgroup_bytes, 300U);
}

TEST(FreeMemory, MalformedMembershipCountsAsUnlimited) {
  const FakeRoot root;
  for (const std::string text : {"\n", "memory\n", "4:memory\n", "4:memory:\n", "::\n", "4:memory_other:/\n"}) {
    write_machine(root, text);
    write_version1(root, "", {"10", "0", "0"});
    EXPECT_EQ(free_memory(root.path()).cgroup_bytes, std::nullopt) << text;
  }
}

TEST(FreeMemory, OfThisMachine) {
  const FreeMemory memory = free_memory();
  EXPECT_GT(memory.machine_bytes, 1024U * 1024U);
  EXPECT_TRUE(std::filesystem::exists(memory.source)) << memory.source;
}

}  // namespace host_memory_test
