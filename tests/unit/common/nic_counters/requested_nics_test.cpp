// Which NICs variables and options ask for.

#include "common/nic_counters/nic_shares.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

using namespace fabricbench;
using host::NicKind;

namespace requested_nics_test {

using Names = std::vector<std::string>;
using Environment = std::vector<std::pair<std::string, std::string>>;

/// A host with everything that a variable can name.
std::vector<host::Nic> many_nics() {
  return {{"bond0", NicKind::kStacked, {"eth2", "eth3"}},
          {"docker0", NicKind::kInterface, {}},
          {"eth0", NicKind::kInterface, {}},
          {"eth1", NicKind::kInterface, {}},
          {"eth2", NicKind::kInterface, {}},
          {"eth3", NicKind::kInterface, {}},
          {"ib0", NicKind::kStacked, {"mlx5_0:1"}},
          {"lo", NicKind::kLoopback, {}},
          {"mlx5_0:1", NicKind::kRdma, {}},
          {"mlx5_1:1", NicKind::kRdma, {}},
          {"mlx5_1:2", NicKind::kRdma, {}},
          {"mlx5_10:1", NicKind::kRdma, {}}};
}

const std::vector<host::InterfaceAddress> kAddresses = {
    {"lo", 0x7f000001}, {"eth0", 0x0a4d0005}, {"eth1", 0x0a4d0105}, {"eth1", 0xc0a80101}, {"bond0", 0x0a4e0001}};

std::vector<RequestedNics> asked(const std::string& backend, const Environment& environment) {
  return requested_nics(backend, environment, many_nics(), kAddresses);
}

/// The NICs that one variable asks for; `nothing` where it is no request.
Names names_asked(const std::string& backend, const std::string& variable, const std::string& value) {
  const auto requests = asked(backend, {{variable, value}});
  if (requests.empty()) return {"nothing"};
  EXPECT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests.front().variable, variable);
  EXPECT_EQ(requests.front().value, value);
  return requests.front().names;
}

TEST(InterfacesIn, FindsThoseWithAnAddressInANetwork) {
  const auto found = [](const char* network) { return host::interfaces_in(network, kAddresses); };
  EXPECT_EQ(found("10.77.0.0/24"), Names{"eth0"});
  EXPECT_EQ(found("10.77.0.99/24"), Names{"eth0"});
  EXPECT_EQ(found("10.77/16"), (Names{"eth0", "eth1"}));
  EXPECT_EQ(found("10.77.1.5/32"), Names{"eth1"});
  EXPECT_EQ(found("192.168.0.0/16"), Names{"eth1"});
  EXPECT_EQ(found("0.0.0.0/0").size(), kAddresses.size());
  for (const char* no :
       {"", "/", "/24", "10.77.0.0", "10.77.0.0/", "10.77.0.0/33", "10.77.0.0/-1", "10.77.0.0/24/8", "10.77.0.0.0/24",
        "10.256.0.0/16", "10..0.0/8", "ten/8", "10.77.0.0/255.255.255.0", "fe80::/10"}) {
    EXPECT_EQ(found(no), Names{}) << no;
  }
}

TEST(RequestedNics, OfNcclSocketIfname) {
  const auto names = [](const char* value) { return names_asked("nccl", "NCCL_SOCKET_IFNAME", value); };
  EXPECT_EQ(names("eth"), (Names{"eth0", "eth1", "eth2", "eth3"}));
  EXPECT_EQ(names("eth0,docker"), (Names{"docker0", "eth0"}));
  EXPECT_EQ(names("=eth0"), Names{"eth0"});
  EXPECT_EQ(names("=eth0,eth1"), (Names{"eth0", "eth1"}));
  EXPECT_EQ(names("=eth"), Names{});
  EXPECT_EQ(names("^docker,eth"), (Names{"eth2", "eth3", "mlx5_0:1"}));  // bond0 and ib0 are left
  EXPECT_EQ(names("^=docker0,eth0,eth1"), (Names{"eth2", "eth3", "mlx5_0:1"}));
  EXPECT_EQ(names("bond0"), (Names{"eth2", "eth3"}));
  EXPECT_EQ(names("ib0"), Names{"mlx5_0:1"});
  EXPECT_EQ(names("wlan"), Names{});
  EXPECT_EQ(names("mlx5_0"), Names{});
  EXPECT_EQ(names("lo"), Names{"nothing"});
  EXPECT_EQ(names(""), Names{"nothing"});
  EXPECT_EQ(names(",,eth0,"), Names{"eth0"});
}

TEST(RequestedNics, OfNcclIbHca) {
  const auto names = [](const char* value) { return names_asked("nccl", "NCCL_IB_HCA", value); };
  EXPECT_EQ(names("mlx5"), (Names{"mlx5_0:1", "mlx5_10:1", "mlx5_1:1", "mlx5_1:2"}));
  EXPECT_EQ(names("mlx5_1"), (Names{"mlx5_10:1", "mlx5_1:1", "mlx5_1:2"}));
  EXPECT_EQ(names("=mlx5_1"), (Names{"mlx5_1:1", "mlx5_1:2"}));
  EXPECT_EQ(names("=mlx5_1:2"), Names{"mlx5_1:2"});
  EXPECT_EQ(names("=mlx5_0:1,mlx5_1:1"), (Names{"mlx5_0:1", "mlx5_1:1"}));
  EXPECT_EQ(names("mlx5_1:1"), (Names{"mlx5_10:1", "mlx5_1:1"}));
  EXPECT_EQ(names("^mlx5_1"), Names{"mlx5_0:1"});
  EXPECT_EQ(names("^=mlx5_1:1"), (Names{"mlx5_0:1", "mlx5_10:1", "mlx5_1:2"}));
  EXPECT_EQ(names("^mlx5"), Names{});
  EXPECT_EQ(names("eth0"), Names{});
  EXPECT_EQ(names(":1"), Names{});
}

TEST(RequestedNics, OfUcxNetDevices) {
  const auto names = [](const char* value) { return names_asked("mpi", "UCX_NET_DEVICES", value); };
  EXPECT_EQ(names("mlx5_0:1"), Names{"mlx5_0:1"});
  EXPECT_EQ(names("mlx5_0:1,eth0"), (Names{"eth0", "mlx5_0:1"}));
  EXPECT_EQ(names("mlx5_1"), Names{});
  EXPECT_EQ(names("mlx5_1:*"), (Names{"mlx5_1:1", "mlx5_1:2"}));
  EXPECT_EQ(names("^eth*,docker0,bond0,mlx5_1*"), Names{"mlx5_0:1"});
  EXPECT_EQ(names("all").size(), 9U);
  EXPECT_EQ(names("bond0"), (Names{"eth2", "eth3"}));
}

TEST(RequestedNics, OfOpenMpi) {
  const auto include = [](const char* value) { return names_asked("mpi", "OMPI_MCA_btl_tcp_if_include", value); };
  EXPECT_EQ(include("eth0"), Names{"eth0"});
  EXPECT_EQ(include("eth0,eth1"), (Names{"eth0", "eth1"}));
  EXPECT_EQ(include("eth"), Names{});
  EXPECT_EQ(include("10.77.0.0/24"), Names{"eth0"});
  EXPECT_EQ(include("10.77.1.0/24,eth0"), (Names{"eth0", "eth1"}));
  EXPECT_EQ(include("10.78.0.0/16"), (Names{"eth2", "eth3"}));
  EXPECT_EQ(include("172.16.0.0/12"), Names{});
  EXPECT_EQ(include("127.0.0.0/8"), Names{"nothing"});
  const auto exclude = [](const char* value) { return names_asked("mpi", "OMPI_MCA_btl_tcp_if_exclude", value); };
  EXPECT_EQ(exclude("lo,docker0,10.77.0.0/16,ib0"), (Names{"eth2", "eth3"}));
  const auto openib = [](const char* value) { return names_asked("mpi", "OMPI_MCA_btl_openib_if_include", value); };
  EXPECT_EQ(openib("mlx5_1"), (Names{"mlx5_1:1", "mlx5_1:2"}));
  EXPECT_EQ(openib("mlx5_1:2,mlx5_0"), (Names{"mlx5_0:1", "mlx5_1:2"}));
}

TEST(RequestedNics, CountOnlyForTheBackendAndItsTransport) {
  const Environment all = {{"NCCL_IB_HCA", "mlx5"},
                           {"NCCL_SOCKET_IFNAME", "eth"},
                           {"UCX_NET_DEVICES", "mlx5_0:1"},
                           {"OMPI_MCA_btl_openib_if_include", "mlx5_0"},
                           {"OMPI_MCA_btl_tcp_if_include", "eth0"}};
  const auto variables = [&all](const std::string& backend, const Environment& more) {
    Environment environment = all;
    environment.insert(environment.end(), more.begin(), more.end());
    std::string text;
    for (const RequestedNics& request : asked(backend, environment)) text += request.variable + " ";
    return text;
  };
  const std::string hca = "NCCL_IB_HCA ";
  const std::string sockets = "NCCL_SOCKET_IFNAME ";
  const std::string ucx = "UCX_NET_DEVICES ";
  const std::string openib = "OMPI_MCA_btl_openib_if_include ";
  const std::string tcp = "OMPI_MCA_btl_tcp_if_include ";
  EXPECT_EQ(variables("nccl", {}), hca + sockets);
  EXPECT_EQ(variables("nccl", {{"NCCL_IB_DISABLE", "1"}}), sockets);
  EXPECT_EQ(variables("nccl", {{"NCCL_IB_DISABLE", "0"}}), hca + sockets);
  EXPECT_EQ(variables("nccl", {{"NCCL_NET", "socket"}}), sockets);
  EXPECT_EQ(variables("nccl", {{"NCCL_NET", "IB"}}), hca);
  EXPECT_EQ(variables("nccl", {{"NCCL_NET", "AWS Libfabric"}}), "");
  EXPECT_EQ(variables("mpi", {}), ucx + openib + tcp);
  EXPECT_EQ(variables("mpi", {{"OMPI_MCA_pml", "ob1"}}), openib + tcp);
  EXPECT_EQ(variables("mpi", {{"OMPI_MCA_pml", "^ucx"}}), openib + tcp);
  EXPECT_EQ(variables("mpi", {{"OMPI_MCA_pml", "ucx"}}), ucx);
  EXPECT_EQ(variables("mpi", {{"OMPI_MCA_pml", "cm"}}), "");
  EXPECT_EQ(variables("mpi", {{"OMPI_MCA_btl", "self,tcp"}}), ucx + tcp);
  EXPECT_EQ(variables("mpi", {{"OMPI_MCA_btl", "^tcp"}}), ucx + openib);
  EXPECT_EQ(variables("verbs", {}), "");
}

TEST(RequestedNics, OfTheOptionInterface) {
  const auto names = [](const std::string& name) {
    const auto requests = requested_interface("10.77.0.9", name, many_nics());
    return requests.empty() ? Names{"nothing"} : requests.front().names;
  };
  EXPECT_EQ(names("eth0"), Names{"eth0"});
  EXPECT_EQ(names("bond0"), (Names{"eth2", "eth3"}));
  EXPECT_EQ(names("ib0"), Names{"mlx5_0:1"});
  EXPECT_EQ(names("lo"), Names{"nothing"});
  EXPECT_EQ(requested_interface("10.77.0.9", "eth1", many_nics()),
            (std::vector<RequestedNics>{{"--interface", "10.77.0.9", RequestScope::kSockets, {"eth1"}}}));
}

}  // namespace requested_nics_test
