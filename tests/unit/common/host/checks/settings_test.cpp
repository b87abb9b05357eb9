// Checks of what libraries are told: one fault, planted in a host that is well.

#include "common/host/checks/settings.h"

#include <gtest/gtest.h>

#include "common/host/checks/checks.h"
#include "common/host/checks/fake_host.h"

namespace fabricbench::host {
namespace {

/// A host with ten adapters: mlx5_1 begins mlx5_10.
FakeHost host_with_setting(const std::string& name, const std::string& value) {
  FakeHost host = h100_infiniband_host();
  host.set("env/" + name, value);
  return host;
}

std::string value_of(const CheckResult& result, const std::string& among) {
  for (const HostFact& fact : result.facts) {
    if (fact.among == among) return fact.value;
  }
  return "none";
}

TEST(SettingsTest, TheEnvironmentComesBeforeTheUsersFileAndThatBeforeTheSites) {
  FakeHost host = h100_infiniband_host();
  EXPECT_EQ(value_of(run_check(configuration_check(), host), "NCCL_DEBUG"), "WARN (from /etc/nccl.conf)");
  host.set("/home/anna/.nccl.conf", "NCCL_DEBUG=INFO\n");
  EXPECT_EQ(value_of(run_check(configuration_check(), host), "NCCL_DEBUG"), "INFO (from /home/anna/.nccl.conf)");
  host.set("/home/anna/my.conf", "NCCL_DEBUG=TRACE\n");
  host.set("env/NCCL_CONF_FILE", "/home/anna/my.conf");
  EXPECT_EQ(value_of(run_check(configuration_check(), host), "NCCL_DEBUG"), "TRACE (from /home/anna/my.conf)");
  host.set("env/NCCL_DEBUG", "ABORT");
  EXPECT_EQ(value_of(run_check(configuration_check(), host), "NCCL_DEBUG"), "ABORT (from the environment)");
}

TEST(SettingsTest, FilesOfMpiAndUcxAreRead) {
  FakeHost host = h100_infiniband_host();
  host.set("/etc/ucx/ucx.conf", "UCX_TLS=rc\nUCX_LOG_LEVEL=warn\n\n[Tuned]\nCPU model=Grace\nUCX_REG=n\n");
  host.set("/home/anna/ucx.conf", "UCX_TLS = dc,sm\n");
  host.set("/home/anna/.openmpi/mca-params.conf", "pml = ob1\n");
  const CheckResult result = run_check(configuration_check(), host);
  EXPECT_EQ(value_of(result, "UCX_TLS"), "dc,sm (from /home/anna/ucx.conf)");
  EXPECT_EQ(value_of(result, "UCX_LOG_LEVEL"), "warn (from /etc/ucx/ucx.conf)");
  EXPECT_EQ(value_of(result, "UCX_REG"), "none");
  EXPECT_EQ(value_of(result, "OMPI_MCA_pml"), "ob1 (from /home/anna/.openmpi/mca-params.conf)");
}

TEST(SettingsTest, WhatALauncherSetsForEachRankIsNotCompared) {
  EXPECT_EQ(value_of(run_check(configuration_check(), host_with_setting("OMPI_MCA_ess_base_vpid", "3")),
                     "OMPI_MCA_ess_base_vpid"),
            "none");
}

TEST(SettingsTest, ALineOfNcclsFileThatSetsNothingIsFound) {
  for (const char* line :
       {"export NCCL_DEBUG=INFO", "NCCL_DEBUG INFO", "NCCL_DEBUG = INFO", "NCCL_IB_HCA=\"mlx5_0\""}) {
    FakeHost host = h100_infiniband_host();
    host.set("/etc/nccl.conf", std::string(line) + "\n");
    const CheckResult result = run_check(configuration_check(), host);
    ASSERT_EQ(result.findings.size(), 1U) << line;
    EXPECT_NE(result.findings[0].measured.find(line), std::string::npos);
  }
}

TEST(NameListTest, ReadsListsAsNcclDoes) {
  EXPECT_TRUE(NameList::of("mlx5_1").selects("mlx5_10"));
  EXPECT_FALSE(NameList::of("=mlx5_1:1").selects("mlx5_10"));
  EXPECT_TRUE(NameList::of("=mlx5_1:1,mlx5_2").selects("mlx5_1"));
  EXPECT_FALSE(NameList::of("^mlx5_1").selects("mlx5_10"));
  EXPECT_TRUE(NameList::of("^=mlx5_1").selects("mlx5_10"));
}

TEST(SocketInterfacesTest, WhatNamesNothingIsAFailure) {
  for (const char* name : {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "OMPI_MCA_btl_tcp_if_include"}) {
    const CheckResult result = run_check(socket_interfaces_check(), host_with_setting(name, "bond9"));
    ASSERT_GE(result.findings.size(), 1U) << name;
    EXPECT_EQ(result.findings[0].measured, std::string(name) + "=bond9: it selects no interface that could be used");
    EXPECT_EQ(result.findings[0].level, CheckLevel::kFailure);
  }
}

TEST(SocketInterfacesTest, BridgesLoopbackAndInterfacesWithoutAnAddressAreFound) {
  FakeHost host = host_with_setting("NCCL_SOCKET_IFNAME", "=eno1,docker0,ib0,ib1,lo");
  host.set("system/interfaces",
           "docker0 up 172.17.0.1/16\neno1 up 10.0.0.7/24\neth0 up 10.0.0.8/24\nib0 down\nib1 up 169.254.3.4/16\nlo up "
           "127.0.0.1/8\n");
  const CheckResult result = run_check(socket_interfaces_check(), host);
  ASSERT_EQ(result.findings.size(), 4U);
  EXPECT_EQ(result.findings[0].device, "docker0");
  EXPECT_NE(result.findings[1].measured.find("it is down"), std::string::npos);
  EXPECT_NE(result.findings[2].measured.find("link-local address 169.254.3.4/16"), std::string::npos);
  EXPECT_EQ(result.findings[3].device, "lo");
}

TEST(SocketInterfacesTest, ExcludingOnlyTheLoopbackTakesBridgesIn) {
  FakeHost host = host_with_setting("NCCL_SOCKET_IFNAME", "^lo");
  host.set("system/interfaces",
           "docker0 no-carrier 172.17.0.1/16\neno1 up 10.0.0.7/24\neth0 up 10.0.0.8/24\nlo up 127.0.0.1/8\n");
  EXPECT_EQ(run_check(socket_interfaces_check(), host).outcome, CheckOutcome::kOk);
  host.set("system/interfaces", "docker0 up 172.17.0.1/16\neno1 up 10.0.0.7/24\nlo up 127.0.0.1/8\n");
  EXPECT_EQ(run_check(socket_interfaces_check(), host).findings.at(0).device, "docker0");
}

TEST(SocketInterfacesTest, MpiTakesSubnets) {
  const auto outcome = [](const std::string& subnet) {
    return run_check(socket_interfaces_check(), host_with_setting("OMPI_MCA_btl_tcp_if_include", subnet)).outcome;
  };
  EXPECT_EQ(outcome("10.0.0.0/8"), CheckOutcome::kOk);
  EXPECT_EQ(outcome("10.1.0.0/16"), CheckOutcome::kFinding);
}

TEST(RdmaChoiceTest, AListThatSelectsNothingIsAFailure) {
  const CheckResult result = run_check(rdma_choice_check(), host_with_setting("NCCL_IB_HCA", "mlx4"));
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].measured, "NCCL_IB_HCA=mlx4: it selects no device");
}

TEST(RdmaChoiceTest, OneNameThatIsNotThereIsNamed) {
  const CheckResult result = run_check(rdma_choice_check(), host_with_setting("NCCL_IB_HCA", "=mlx5_0:1,mlx5_1:2"));
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].measured, "NCCL_IB_HCA==mlx5_0:1,mlx5_1:2: there is no mlx5_1:2");
}

/// NVIDIA/nccl-tests issue 263.
TEST(RdmaChoiceTest, ANameThatBeginsOthersIsFound) {
  FakeHost host = host_with_setting("NCCL_IB_HCA", "mlx5_1,mlx5_2");
  host.set("/sys/class/infiniband/mlx5_10/ports/1/state", "4: ACTIVE\n");
  const CheckResult result = run_check(rdma_choice_check(), host);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].measured, "NCCL_IB_HCA=mlx5_1,mlx5_2: mlx5_1 also selects mlx5_10");
  host.set("env/NCCL_IB_HCA", "=mlx5_1,mlx5_2");
  EXPECT_EQ(run_check(rdma_choice_check(), host).outcome, CheckOutcome::kOk);
  host.set("env/NCCL_IB_HCA", "mlx5");  // meant to begin them all
  EXPECT_EQ(run_check(rdma_choice_check(), host).outcome, CheckOutcome::kOk);
}

TEST(UcxDevicesTest, NamesDevicesOrInterfaces) {
  const auto outcome = [](const std::string& value) {
    return run_check(ucx_devices_check(), host_with_setting("UCX_NET_DEVICES", value)).outcome;
  };
  EXPECT_EQ(outcome("mlx5_0:1,eno1"), CheckOutcome::kOk);
  EXPECT_EQ(outcome("all"), CheckOutcome::kOk);
  EXPECT_EQ(outcome("mlx5_0:2"), CheckOutcome::kFinding);
  EXPECT_EQ(outcome("mlx5_77:1"), CheckOutcome::kFinding);
}

TEST(RdmaChoiceTest, RdmaThatIsSwitchedOffIsFound) {
  const CheckResult result = run_check(rdma_choice_check(), host_with_setting("NCCL_IB_DISABLE", "1"));
  EXPECT_EQ(result.findings.at(0).measured, "NCCL_IB_DISABLE=1: 9 RDMA devices are not used");
}

TEST(NetworkStackTest, ABridgeThatMpiWouldTakeIsFound) {
  FakeHost host = h100_infiniband_host();
  host.remove("/home/anna/.openmpi/mca-params.conf");
  EXPECT_EQ(run_check(network_stack_check(), host).findings.at(0).device, "docker0");
  host.set("env/OMPI_MCA_btl_tcp_if_exclude", "lo,docker0");
  EXPECT_EQ(run_check(network_stack_check(), host).outcome, CheckOutcome::kOk);
}

/// NVIDIA-NeMo/Megatron-Bridge issue 2824.
TEST(NetPluginsTest, APluginThatLacksALibraryIsAFailure) {
  FakeHost host = h100_infiniband_host();
  host.set("system/library/libnccl-net.so", "fails libfabric.so.1: cannot open shared object file: No such file");
  const CheckResult result = run_check(net_plugins_check(), host);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].device, "libnccl-net.so");
  EXPECT_NE(result.findings[0].measured.find("libfabric.so.1"), std::string::npos);
}

TEST(NetPluginsTest, ANameIsTriedAsItIsAndAsPartOfALibrarysName) {
  FakeHost host = host_with_setting("NCCL_NET_PLUGIN", "aws-ofi");
  host.set("system/library/aws-ofi", "fails aws-ofi: cannot open shared object file: No such file or directory");
  host.set("system/library/libnccl-net-aws-ofi.so", "loads /opt/amazon/lib/libnccl-net-aws-ofi.so");
  EXPECT_EQ(run_check(net_plugins_check(), host).outcome, CheckOutcome::kOk);
  host.set("system/library/libnccl-net-aws-ofi.so",
           "fails libnccl-net-aws-ofi.so: cannot open shared object file: No such file or directory");
  EXPECT_EQ(run_check(net_plugins_check(), host).findings.at(0).device, "NCCL_NET_PLUGIN=aws-ofi");
}

TEST(TopologyFileTest, AFileOfAnotherMachineIsFound) {
  FakeHost host = host_with_setting("NCCL_TOPO_FILE", "/opt/topo.xml");
  EXPECT_NE(run_check(topology_file_check(), host).findings.at(0).measured.find("it is not there"), std::string::npos);
  host.make_folder("/sys/bus/pci/devices/0000:1b:00.0");
  host.set("/opt/topo.xml",
           "<pci busid=\"ffff:ff:01.0\" class=\"0x060400\">\n<pci busid=\"0000:1B:00.0\" class=\"0x030200\"/>\n");
  host.link("/sys/bus/pci/devices/0000:1b:00.0", "/sys/devices/pci0000:1a/0000:1b:00.0");
  EXPECT_EQ(run_check(topology_file_check(), host).outcome, CheckOutcome::kOk);
  host.set("/opt/topo.xml", "<pci busid=\"0001:00:00.0\" class=\"0x030200\"/>\n");
  EXPECT_NE(run_check(topology_file_check(), host).findings.at(0).measured.find("0001:00:00.0"), std::string::npos);
}

}  // namespace
}  // namespace fabricbench::host
