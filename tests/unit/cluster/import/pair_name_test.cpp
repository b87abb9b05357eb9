#include "cluster/import/pair_name.h"

#include <gtest/gtest.h>

#include <string>

using namespace fabricbench::cluster;

namespace pair_name_test {

std::string pair_of(std::string_view path) {
  const auto pair = pair_in_name(path);
  return pair ? pair->from + " " + pair->to : "";
}

TEST(PairName, HasManySeparators) {
  EXPECT_EQ(pair_of("n1_n2.log"), "n1 n2");
  EXPECT_EQ(pair_of("logs/old/n1_n2.log"), "n1 n2");
  EXPECT_EQ(pair_of("n1-to-n2.txt"), "n1 n2");
  EXPECT_EQ(pair_of("n1_to_n2.json"), "n1 n2");
  EXPECT_EQ(pair_of("n1.to.n2"), "n1 n2");
  EXPECT_EQ(pair_of("n1--n2.out"), "n1 n2");
  EXPECT_EQ(pair_of("n1__n2"), "n1 n2");
  EXPECT_EQ(pair_of("n1,n2.log"), "n1 n2");
  EXPECT_EQ(pair_of("n1-n2.log"), "n1 n2");
}

TEST(PairName, MayBeOfAnyTwoHostsWhereTheSeparatorIsClear) {
  EXPECT_EQ(pair_of("login-3_gpu-rack-7.log"), "login-3 gpu-rack-7");
  EXPECT_EQ(pair_of("gpu-1-to-head.log"), "gpu-1 head");
  EXPECT_EQ(pair_of("10.0.0.1_10.0.0.2.log"), "10.0.0.1 10.0.0.2");
  EXPECT_EQ(pair_of("10.0.0.1_10.0.0.2"), "10.0.0.1 10.0.0.2");
  EXPECT_EQ(pair_of("n1.cluster.org_n2.cluster.org.log"), "n1.cluster.org n2.cluster.org");
}

TEST(PairName, SplitsHostsOfOneMakeInTheMiddle) {
  EXPECT_EQ(pair_of("gpu-1-gpu-12.log"), "gpu-1 gpu-12");
  EXPECT_EQ(pair_of("node_1_node_2.log"), "node_1 node_2");
}

TEST(PairName, PassesOverProgramsAndWhatComesBefore) {
  EXPECT_EQ(pair_of("osu_bw_n1_n2.log"), "n1 n2");
  EXPECT_EQ(pair_of("ib_write_bw-n1-to-n2.log"), "n1 n2");
  EXPECT_EQ(pair_of("iperf3.n1_n2.json"), "n1 n2");
  EXPECT_EQ(pair_of("n1_to_n2_osu.12345.log"), "n1 n2");
  EXPECT_EQ(pair_of("n1_n2_sendrecv_perf.log"), "n1 n2");
  EXPECT_EQ(pair_of("nccl_N2_G1_cnode2-001_cnode2-016.log"), "cnode2-001 cnode2-016");
}

std::string rails_of(std::string_view path) {
  const PairRails rails = rails_in_name(path);
  return rails.from + " " + rails.to;
}

TEST(PairName, LeavesOutWhatStandsBeforeOneOfTwoHostsOfOneMake) {
  for (const char* prefix : {"bw-", "r-", "run1-", "test-", "osu-", "2026.11-"}) {
    EXPECT_EQ(pair_of(std::string(prefix) + "node01_node02.log"), "node01 node02");
  }
  EXPECT_EQ(pair_of("bw-gpu-1_gpu-2.log"), "gpu-1 gpu-2");
  EXPECT_EQ(pair_of("bw-node01_head.log"), "bw-node01 head");
  EXPECT_EQ(pair_of("10.1.2.23_10.1.2.24.o88123"), "10.1.2.23 10.1.2.24");
}

TEST(PairName, MayHaveANicAndTheNumberOfARun) {
  for (const char* name : {"n1-n2-mlx5_0.txt", "n1_to_n2_mlx5_0.log", "n1_n2_mlx5_0.log", "n1_n2_mlx5_0_r1.log",
                           "n1_n2.mlx5_bond_0.run3.log", "n1_mlx5_0_n2_mlx5_1.log", "n1-mlx5_0_n2-mlx5_1.log"}) {
    EXPECT_EQ(pair_of(name), "n1 n2") << name;
    EXPECT_NE(rails_of(name), " ") << name;
  }
  EXPECT_EQ(rails_of("n1-n2-mlx5_0.txt"), "mlx5_0 mlx5_0");
  EXPECT_EQ(rails_of("n1-mlx5_0_n2-mlx5_1.log"), "mlx5_0 mlx5_1");
  EXPECT_EQ(rails_of("logs/mlx5_3/n1_n2.log"), "mlx5_3 mlx5_3");
  EXPECT_EQ(rails_of("logs/rail2/osu_bw/n1_n2.log"), "rail2 rail2");
  EXPECT_EQ(rails_of("logs/n1_n2.log"), " ");
  EXPECT_EQ(pair_of("login_gpu7-mlx5_0.log"), "login gpu7");
}

TEST(PairName, HasNoPartOfAnotherEnding) {
  for (const char* name : {"n1_n2.1.log", "n1_n2.dat", "n1_n2.LOG", "n1_n2.stdout", "n1_n2.result", "n1_n2_1.log",
                           "n1_n2-run2.out", "n1_n2.log.3", "hostfile_n1_n2", "server_n1_n2.log", "n1_n2_server.log"}) {
    EXPECT_EQ(pair_of(name), "n1 n2") << name;
  }
  EXPECT_EQ(pair_of("login_gpu7.1.log"), "login gpu7");
  EXPECT_EQ(pair_of("10.0.0.1_10.0.0.2.1.log"), "10.0.0.1 10.0.0.2");
}

TEST(HostName, HasAShortOne) {
  EXPECT_EQ(short_name("n1.cluster.org"), "n1");
  EXPECT_EQ(short_name("10.0.0.1"), "10.0.0.1");
}

TEST(PairName, HasWordsOfProgramsInHosts) {
  EXPECT_EQ(pair_of("osu-worker-0_osu-worker-1.log"), "osu-worker-0 osu-worker-1");
  EXPECT_EQ(pair_of("nccl-test-worker-0_nccl-test-worker-1.log"), "nccl-test-worker-0 nccl-test-worker-1");
  EXPECT_EQ(pair_of("iperf3-node-0_iperf3-node-1.log"), "iperf3-node-0 iperf3-node-1");
}

TEST(PairName, MayBeOfAFolder) {
  EXPECT_EQ(pair_of("logs/n1/to_n2.log"), "n1 n2");
  EXPECT_EQ(pair_of("to_n2.log"), "");
  EXPECT_EQ(pair_of("from_n1_to_n2.log"), "n1 n2");
}

TEST(PairName, IsNoneWhereItIsNotClear) {
  for (const char* name : {"", ".log", "n1.log", "n1_.log", "_n2.log", "a-b-c.log", "gpu-1-head-node.log",
                           "n1_n2_n3.log", "a_b_c.log", "n1-to-n2-to-n3.log", "n 1_n2.log", "1_2_3_4.log", "x_1_2.log",
                           "-a_b.log", "\xff\xfe_n2.log", "n1;rm_n2.log"}) {
    EXPECT_EQ(pair_of(name), "") << name;
  }
  EXPECT_EQ(pair_of(std::string(300, 'a') + "_b.log"), "");
}

TEST(PairName, MayBeThatOfAFolderOfGnuParallel) {
  EXPECT_EQ(pair_of("out/1/node01/2/node02/stdout"), "node01 node02");
  EXPECT_EQ(pair_of("out/1/node01/2/node02/stderr"), "node01 node02");
  EXPECT_EQ(pair_of("out/1/login/2/gpu-7/stdout"), "login gpu-7");
  EXPECT_EQ(pair_of("out/1/node01/2/node02/3/8388608/stdout"), "node01 node02");
  EXPECT_EQ(pair_of("out/1/node01 node02/stdout"), "node01 node02");
  EXPECT_EQ(pair_of("out/node01_node02/stdout"), "node01 node02");
  for (const char* name : {"out/1/node01/2/node02/seq", "stdout", "/stdout", "out/stdout", "1/node01/stdout",
                           "run1/x/run2/stdout", "my logs/x/node01/stdout"}) {
    EXPECT_EQ(pair_of(name), "") << name;
  }
}

TEST(HostName, IsANameOrAnAddress) {
  for (const char* host : {"n1", "alice@n1.cluster", "10.1.2.3", "fe80::1", "a_b-c"})
    EXPECT_TRUE(is_host_name(host)) << host;
  for (const char* host : {"", "-", "-x", "a b", "$(x)", "a/b", "\x1b[1m", "n\xc3\xa4"}) {
    EXPECT_FALSE(is_host_name(host)) << host;
  }
}

TEST(Shape, HasNumbersAsOneSign) {
  EXPECT_EQ(shape_of("cnode2-001"), shape_of("cnode17-3"));
  EXPECT_EQ(shape_of("cnode2-001"), "cnode#-#");
  EXPECT_EQ(shape_of(""), "");
}

}  // namespace pair_name_test
