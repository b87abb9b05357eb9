#include "cluster/run/identity.h"

#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include <set>

#include "cluster/run/launch_recorder.h"
#include "common/options/known_options.h"
#include "rdma_option_support.h"

namespace fabricbench::baseline {
namespace {

std::string value(const record::Texts& texts, std::string_view key) {
  for (const auto& [name, text] : texts) {
    if (name == key) return text;
  }
  return "(none)";
}

host::NetworkDevice interface(std::string name, std::string state) {
  host::NetworkDevice device;
  device.name = std::move(name);
  device.kind = "ethernet";
  device.state = std::move(state);
  device.speed_mbit_per_s = 25000;
  device.mtu = 9000;
  device.driver = "ice";
  return device;
}

host::NetworkDevice port(std::string name) {
  host::NetworkDevice device;
  device.name = std::move(name);
  device.kind = "infiniband";
  device.state = "ACTIVE";
  device.speed_mbit_per_s = 400000;
  device.driver = "mlx5_core";
  device.firmware = "28.39";
  return device;
}

/// Four ranks on two hosts, each with a port, an interface in use and one that is not.
Context context() {
  Context made;
  made.program = "all_reduce_perf";
  made.backend = "mpi";
  made.library = "Open MPI v5";
  for (int rank = 0; rank < 4; ++rank) {
    RankFacts facts;
    facts.rank = rank;
    facts.host = rank < 2 ? "node01" : "node02";
    facts.binding = rank % 2 == 0 ? "0-3" : "4-7";
    GpuFacts gpu;
    gpu.model = "H100";
    gpu.driver = "550.1";
    facts.gpu = gpu;
    made.ranks.push_back(facts);
  }
  for (const char* name : {"node01", "node02"}) {
    HostFacts host;
    host.name = name;
    host.processor = "EPYC";
    host.kernel = "6.1";
    host.switches = "spine1.leaf1";
    host.network_devices = {interface("eth0", "up"), interface("docker0", "up"), port("mlx5_0:1")};
    made.host_facts.push_back(host);
  }
  made.option_values = {{"minbytes", "8"}, {"window", "64"}, {"json", "out.jsonl"}, {"label", "monday"}};
  made.environment = {{"NCCL_ALGO", "Ring"},
                      {"SLURM_JOB_ID", "17"},
                      {"LD_LIBRARY_PATH", "/opt"},
                      {"OMPI_MCA_rmaps_base_oversubscribe", "1"}};
  made.groups.resize(1);
  return made;
}

Row row(Bytes size, const std::string& device) {
  Row made;
  made.size = size;
  made.reduction = Reduction::kSum;
  Measurement measured;
  measured.summary.median = 2e-6;
  measured.summary.epoch_medians = {2e-6, 2.1e-6};
  measured.iterations = 100;
  for (const char* host : {"node01", "node02"}) measured.nics.push_back({host, device, 100 * size, 100 * size});
  made.out_of_place = measured;
  return made;
}

Launch launch_of(const Context& context, const std::vector<Row>& rows) {
  LaunchRecorder recorder;
  recorder.begin(context);
  for (const Row& each : rows) recorder.take(each);
  return recorder.finish();
}

TEST(BaselineIdentity, SaysWhatHasToBeEqual) {
  const record::Texts identity = launch_of(context(), {row(1 << 20, "mlx5_0:1")}).start.identity;
  EXPECT_EQ(value(identity, "program"), "all_reduce_perf");
  EXPECT_EQ(value(identity, "timing"), "pipelined");
  EXPECT_EQ(value(identity, "library"), "Open MPI v5");
  EXPECT_EQ(value(identity, "carried_by"), "mlx5_0:1");
  EXPECT_EQ(value(identity, "ranks"), "4");
  EXPECT_EQ(value(identity, "hosts"), "node[01-02]");
  EXPECT_EQ(value(identity, "ranks_per_host"), "2 x 2 ranks");
  EXPECT_EQ(value(identity, "order_of_ranks"), "host by host");
  EXPECT_EQ(value(identity, "binding"), "2 x processors 0-3, 2 x processors 4-7");
  EXPECT_EQ(value(identity, "switches"), "spine1.leaf1: node[01-02]");
  EXPECT_EQ(value(identity, "gpus"), "4 x H100");
  EXPECT_EQ(value(identity, "gpu_driver"), "550.1");
  EXPECT_EQ(value(identity, "rdma_ports"), "2 x infiniband ACTIVE 400000 Mbit/s, mlx5_core, firmware 28.39");
  EXPECT_EQ(value(identity, "interfaces"), "(none)") << "none of them carried data";
  EXPECT_EQ(value(identity, "option window"), "64");
  EXPECT_EQ(value(identity, "variable NCCL_ALGO"), "Ring");
}

TEST(BaselineIdentity, LeavesOutWhatMayDiffer) {
  const Launch launch = launch_of(context(), {row(1 << 20, "mlx5_0:1")});
  for (const char* key : {"option minbytes", "option json", "option label", "variable SLURM_JOB_ID",
                          "variable LD_LIBRARY_PATH", "variable OMPI_MCA_rmaps_base_oversubscribe", "kernel"}) {
    EXPECT_EQ(value(launch.start.identity, key), "(none)") << key;
  }
  EXPECT_EQ(launch.start.allocation, "SLURM_JOB_ID 17");
  EXPECT_EQ(launch.start.label, "monday");
  EXPECT_EQ(value(launch.start.circumstances, "kernel"), "6.1");
}

/// Options of all programs, of which each is one that has to be equal, or one that may differ.
TEST(BaselineIdentity, HasTheOptionsThatChangeWhatIsMeasured) {
  using namespace fabricbench::test;
  std::vector<Program> programs = {kAllToAllV,  kSendRecvBw, kSendRecvLat, kTcpBw,
                                   kPairwiseBw, kGpuCopyBw,  kConnect,     kSeenLat};
  programs.insert(programs.end(), fabricbench::test::kPrograms.begin(), fabricbench::test::kPrograms.end());
  std::set<std::string> keys;
  for (const Program& program : programs) {
    for (const Option& option : program.options) {
      if (!is_comparable(option.key())) keys.insert(option.key());
    }
  }
  EXPECT_EQ(fmt::format("{}", fmt::join(keys, " ")),
            "agg_iters atomic_type average backend background background_sl background_tclass bidirectional "
            "blocking buffers burst_size concurrent connection cq_mod cta_policy cudagraph data_direct device "
            "device_cta_count device_implementation devices disable_pcie_relaxed events flow_label gid_index "
            "ib_dev ib_port inline_size interface level like local_register matrix matrix_scale memory mtu ngpus "
            "nthreads numa one_sided outs pairs parallel parallel_init per_iter_timing pkey_index post_list qp "
            "qp_timeout rate_limit rdma_cm retry_count rx_depth schedule seen_by sl split spread stream_null "
            "streams tclass timing tx_depth unalign use_srq warmup_iters window write_with_imm");
}

TEST(BaselineIdentity, InterfacesCountIfTheyCarriedData) {
  const record::Texts identity = launch_of(context(), {row(1 << 20, "eth0")}).start.identity;
  EXPECT_EQ(value(identity, "carried_by"), "eth0");
  EXPECT_EQ(value(identity, "interfaces"), "2 x ethernet up 25000 Mbit/s MTU 9000, ice");
}

TEST(BaselineIdentity, FirmwareOfInterfacesHasAKeyOfItsOwn) {
  Context told = context();
  for (HostFacts& host : told.host_facts) host.network_devices[0].firmware = "4.40";
  const record::Texts identity = launch_of(told, {row(1 << 20, "eth0")}).start.identity;
  EXPECT_EQ(value(identity, "interfaces"), "2 x ethernet up 25000 Mbit/s MTU 9000, ice");
  EXPECT_EQ(value(identity, "interface_firmware"), "2 x 4.40");
  EXPECT_EQ(value(launch_of(told, {row(1 << 20, "mlx5_0:1")}).start.identity, "interface_firmware"), "(none)");
}

TEST(BaselineIdentity, OnOneHostDevicesCarryOnlyWhatOthersSend) {
  Context one_host = context();
  for (RankFacts& rank : one_host.ranks) rank.host = "node01";
  EXPECT_EQ(value(launch_of(one_host, {row(1 << 20, "eth0")}).start.identity, "carried_by"), "(none)");
  EXPECT_EQ(value(launch_of(context(), {row(1 << 20, "lo")}).start.identity, "carried_by"), "(none)");
}

TEST(BaselineIdentity, RanksAcrossHostsAreAnotherOrder) {
  Context other = context();
  std::swap(other.ranks[1], other.ranks[2]);
  EXPECT_EQ(value(identity_of(other, {}, 0), "order_of_ranks"), "across hosts");
  other = context();
  std::reverse(other.ranks.begin(), other.ranks.end());
  EXPECT_EQ(value(identity_of(other, {}, 0), "order_of_ranks"), "host by host: node02,node01");
}

TEST(BaselineCarriers, AreTheDevicesThatMovedTheMost) {
  constexpr double kPayload = 1e9;
  const DeviceBytes two_rails = {{"a", {{"mlx5_0:1", 1e9}, {"mlx5_1:1", 9e8}, {"eth0", 1e6}}}};
  EXPECT_EQ(used_nics_of(two_rails, kPayload), UsedNics({"mlx5_0:1", "mlx5_1:1"}));
  EXPECT_EQ(used_nics_of({{"a", {{"mlx5_0:1", 1e9}, {"eth0", 1e8}}}}, kPayload), UsedNics({"mlx5_0:1"}))
      << "storage uses the interface";
  EXPECT_EQ(used_nics_of({{"a", {{"eth0", 1e6}}}}, 1e6), std::nullopt) << "too few bytes to tell";
  EXPECT_EQ(used_nics_of({}, kPayload), std::nullopt) << "nothing counted";
}

TEST(LaunchRecorder, KeepsRowsWithTheirKeys) {
  Context with_groups = context();
  with_groups.groups = {{"0-1", "node01"}, {"2-3", "node02"}};
  Row second = row(64, "eth0");
  second.group = 1;
  second.in_place = second.out_of_place;
  const Launch launch = launch_of(with_groups, {row(64, "eth0"), second});
  ASSERT_EQ(launch.rows.size(), 3U);
  EXPECT_EQ(launch.rows[0].key.subject, "ranks 0-1 (node01)");
  EXPECT_EQ(launch.rows[0].key.placement, "out_of_place");
  EXPECT_EQ(launch.rows[1].key.subject, "ranks 2-3 (node02)");
  EXPECT_EQ(launch.rows[2].key.placement, "in_place");
  EXPECT_EQ(launch.rows[0].key.datatype, "float");
  EXPECT_EQ(launch.rows[0].key.reduction, "sum");
  EXPECT_EQ(launch.rows[0].key.size, 64U);
  EXPECT_EQ(launch.rows[0].epochs, (std::vector<Seconds>{2e-6, 2.1e-6}));
}

TEST(LaunchRecorder, RowsWithoutAFigureAreLeftOut) {
  Row skipped;
  skipped.skipped = "why";
  EXPECT_TRUE(launch_of(context(), {skipped}).rows.empty());
}

TEST(LaunchRecorder, SeveralReadingsOfAPairBecomeTheirMedian) {
  Context sweep = context();
  sweep.row_kind = RowKind::kSweep;
  LaunchRecorder recorder;
  recorder.begin(sweep);
  for (const double bandwidth : {1e9, 4e9, 2e9}) {
    PairReading reading;
    reading.from_end.host = "node01";
    reading.to_end.host = "node02";
    reading.size = 4'000'000;
    reading.bandwidth = bandwidth;
    recorder.take(reading);
  }
  PairReading failed;
  failed.from_end.host = "node02";
  failed.to_end.host = "node01";
  recorder.take(failed);
  const Launch launch = recorder.finish();
  ASSERT_EQ(launch.rows.size(), 1U);
  EXPECT_EQ(launch.rows[0].key.subject, "node01 to node02");
  EXPECT_DOUBLE_EQ(launch.rows[0].time, 0.002);
  EXPECT_DOUBLE_EQ(launch.rows[0].busbw, 2e9);
}

}  // namespace
}  // namespace fabricbench::baseline
