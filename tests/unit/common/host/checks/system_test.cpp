// Checks of the operating system: one fault, planted in a host that is well.

#include <gtest/gtest.h>

#include "common/host/checks/checks.h"
#include "common/host/checks/fake_host.h"
#include "common/host/checks/system_facts.h"

namespace fabricbench::host {
namespace {

/// What a check says of a host in which one source is otherwise.
CheckResult result_with(const Check& check, const std::string& source, const std::string& text) {
  FakeHost host = h100_infiniband_host();
  host.set(source, text);
  return run_check(check, host);
}

std::string fact_of(const CheckResult& result, const std::string& key) {
  for (const HostFact& fact : result.facts) {
    if (fact.key == key) return fact.value;
  }
  return "";
}

TEST(ProcessLimitsTest, LowLimitsAreFound) {
  const CheckResult result =
      result_with(process_limits_check(), "/proc/self/limits",
                  "Max processes             1024                 1024                 processes\n"
                  "Max open files            1024                 1024                 files\n");
  ASSERT_EQ(result.findings.size(), 2U);
  EXPECT_EQ(result.findings[0].measured, "a process may open 1024 files, and raise that to 1024");
  EXPECT_EQ(result.findings[1].measured, "a user may have 1024 processes and threads");
}

TEST(ControlGroupTest, LimitsOfControlGroupsAboveCountToo) {
  const std::string slice = "/sys/fs/cgroup/user.slice/";
  EXPECT_EQ(result_with(control_group_check(), slice + "pids.max", "512\n").findings.at(0).measured,
            "the control group allows 512 processes and threads");
  EXPECT_EQ(result_with(control_group_check(), slice + "memory.max", "68719476736\n").findings.at(0).level,
            CheckLevel::kNote);
}

TEST(ControlGroupTest, ControlGroupsOfVersionOneAreNotRead) {
  const CheckResult result =
      result_with(control_group_check(), "/proc/self/cgroup", "9:memory:/slurm/uid_1\n0::/system.slice\n");
  EXPECT_EQ(result.outcome, CheckOutcome::kNotChecked);
}

TEST(ControlGroupTest, WithoutItsFilesNothingIsKnown) {
  FakeHost host = h100_infiniband_host();
  host.remove("/sys/fs/cgroup");
  EXPECT_EQ(run_check(control_group_check(), host).outcome, CheckOutcome::kNotChecked);
}

TEST(FreeSpaceTest, FullFileSystemsAreFound) {
  EXPECT_EQ(result_with(free_space_check(), "system/free/tmp", "1048576 1000000000").findings.at(0).level,
            CheckLevel::kFailure);
  EXPECT_EQ(result_with(free_space_check(), "system/free/home/anna", "1073741824 1000000000000").findings.at(0).device,
            "/home/anna");
}

TEST(LoadTest, ABusyHostIsFound) {
  EXPECT_EQ(result_with(load_check(), "/proc/loadavg", "96.20 90.00 80.00 99/2100 901\n").findings.at(0).measured,
            "96.2 processes ran or waited in the last minute, on 224 processors");
}

TEST(LoadTest, APortThatIsTakenIsNamed) {
  FakeHost host = h100_infiniband_host();
  host.set("env/MASTER_PORT", "29500");
  EXPECT_EQ(run_check(load_check(), host).outcome, CheckOutcome::kOk);
  host.set("/proc/net/tcp6", "  sl  local_address\n   0: 0:733C 0:0000 0A 0:0\n   1: 0:4853 0:0000 01 0:0\n");
  const CheckResult result = run_check(load_check(), host);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].measured, "port 29500 (MASTER_PORT, PyTorch's) is taken");
}

TEST(OtherProcessesTest, LeftOverProgramsAreNamedButNotThoseOfThisJob) {
  FakeHost host = h100_infiniband_host();
  host.set("/proc/902/stat", "902 (all_reduce_perf) R 900 902 902 0 -1 0 0\n");  // its sibling
  EXPECT_EQ(run_check(other_processes_check(), host).outcome, CheckOutcome::kOk);
  host.set("/proc/4242/stat", "4242 (ib_write_bw) R 1 4242 4242 0 -1 0 0\n");
  EXPECT_EQ(run_check(other_processes_check(), host).findings.at(0).measured,
            "programs that measure run here, outside of this job: ib_write_bw (4242)");
}

TEST(OtherProcessesTest, ManyProcessesThatWaitInTheKernelAreFound) {
  FakeHost host = h100_infiniband_host();
  for (int id = 5000; id < 5004; ++id) {
    host.set("/proc/" + std::to_string(id) + "/stat", std::to_string(id) + " (nvidia-smi) D 1 1 1 0 -1 0 0\n");
  }
  EXPECT_NE(run_check(other_processes_check(), host).findings.at(0).measured.find("nvidia-smi (5003)"),
            std::string::npos);
}

TEST(OtherProcessesTest, HiddenProcessesAreNotChecked) {
  FakeHost host = h100_infiniband_host();
  for (const char* id : {"1", "2", "77", "801", "900"}) host.remove(std::string("/proc/") + id);
  EXPECT_EQ(run_check(other_processes_check(), host).outcome, CheckOutcome::kNotChecked);
}

TEST(ProcessorTuningTest, ASlowGovernorIsFoundWhereTheDriverDoesNotChoose) {
  FakeHost host = h100_infiniband_host();
  const std::string policy = "/sys/devices/system/cpu/cpufreq/policy1/";
  host.set(policy + "scaling_governor", "powersave\n");
  EXPECT_EQ(run_check(processor_tuning_check(), host).outcome, CheckOutcome::kOk);
  host.set(policy + "scaling_driver", "acpi-cpufreq\n");
  EXPECT_EQ(run_check(processor_tuning_check(), host).findings.at(0).measured, "governor of processors powersave");
}

TEST(ProcessorTuningTest, ASlowClockSourceIsFound) {
  const std::string source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  EXPECT_EQ(result_with(processor_tuning_check(), source, "hpet\n").findings.at(0).measured, "clock source hpet");
  EXPECT_EQ(result_with(processor_tuning_check(), source, "kvm-clock\n").outcome, CheckOutcome::kOk);
}

TEST(ClockSyncTest, AClockThatFollowsNobodyIsANote) {
  const CheckResult result = result_with(clock_sync_check(), "system/clock", "unsynchronized 16000000");
  EXPECT_EQ(result.findings.at(0).level, CheckLevel::kNote);
}

TEST(MemoryErrorsTest, CorrectedOnesAreANote) {
  const std::string controller = "/sys/devices/system/edac/mc/mc0/";
  EXPECT_EQ(result_with(memory_errors_check(), controller + "ce_count", "12\n").findings.at(0).level,
            CheckLevel::kNote);
  EXPECT_EQ(result_with(memory_errors_check(), controller + "ue_count", "1\n").findings.at(0).level,
            CheckLevel::kWarning);
}

TEST(ProcessorsTest, NodesOfGpuMemoryAreNotCounted) {
  EXPECT_EQ(fact_of(run_check(processors_check(), h100_infiniband_host()), "nodes"), "2");
}

TEST(ProcessorsTest, TwoKindsOfProcessorsAreNoFault) {
  const CheckResult result = result_with(processors_check(), "/proc/cpuinfo",
                                         "processor : 0\nCPU part : 0xd87\nprocessor : 1\nCPU part : 0xd85\n");
  EXPECT_EQ(result.outcome, CheckOutcome::kOk);
  EXPECT_EQ(fact_of(result, "model"), "0xd85 and 0xd87");
}

TEST(KernelTest, DisksOfOneHostAreNotCompared) {
  const CheckResult result =
      result_with(kernel_check(), "/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=UUID=77 ro iommu=pt\n");
  EXPECT_EQ(fact_of(result, "command_line"), "ro iommu=pt");
}

TEST(SoftwareTest, VersionsAreStated) {
  const CheckResult result = run_check(software_check(), h100_infiniband_host());
  EXPECT_EQ(fact_of(result, "nccl"), "libnccl.so.2.21.5");
  EXPECT_EQ(fact_of(result, "mpi"), "mpirun (Open MPI) 4.1.6");
  EXPECT_EQ(fact_of(result, "container"), "none");
}

TEST(HugePagesTest, AreWantedForEfaOnly) {
  FakeHost host = h100_infiniband_host();
  host.set("/proc/meminfo", "MemTotal: 2113513472 kB\nHugePages_Free: 0\n");
  EXPECT_EQ(run_check(huge_pages_check(), host).outcome, CheckOutcome::kAbsent);
  host.link("/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/driver", "/sys/bus/pci/drivers/efa");
  EXPECT_EQ(run_check(huge_pages_check(), host).findings.at(0).measured, "no huge page is free");
}

/// On the host of the test.
TEST(SystemFactsTest, AreThoseOfThisHost) {
  EXPECT_NE(system_fact("interfaces").find("lo "), std::string::npos);
  EXPECT_EQ(system_fact("program_hash").size(), 16U);
  EXPECT_EQ(system_fact("library/libfabricbench-none.so").rfind("fails ", 0), 0U);
  EXPECT_EQ(system_fact("library/libc.so.6").rfind("loads /", 0), 0U);
  EXPECT_EQ(system_fact("program/sh").rfind('/', 0), 0U);
  EXPECT_THROW(static_cast<void>(system_fact("weather")), NotSeen);
}

}  // namespace
}  // namespace fabricbench::host
