// Everything that users start is in the catalogue of `fabricbench list`, once.
#include "cluster/command/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cluster/command/commands.h"
#include "cluster/command/link_prefix.h"
#include "common/core/error.h"
#include "common/core/script_command.h"

namespace fabricbench::cluster {
namespace catalogue_test {

namespace fs = std::filesystem;

using Names = std::set<std::string>;

const fs::path kSource = FABRICBENCH_SOURCE_DIR;

Names catalogued(const std::vector<StartedAs>& starts) {
  Names names;
  for (const Question& question : catalogue()) {
    for (const CatalogueEntry& entry : question.entries) {
      if (std::find(starts.begin(), starts.end(), entry.start) != starts.end()) names.emplace(entry.name);
    }
  }
  return names;
}

/// The programs of a folder of src/, of which each is a function.
void add_programs(Names& names, const std::string& folder) {
  const std::regex function(R"(int (\w+)\(int argc, char\*\* argv\))");
  for (const fs::directory_entry& entry : fs::directory_iterator(kSource / folder)) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator match(text.begin(), text.end(), function), end; match != end; ++match) {
      names.insert((*match)[1].str());
    }
  }
}

TEST(Catalogue, HasEveryProgramOfMpiAndNoOther) {
  Names programs;
  for (const char* folder : {"collectives", "p2p", "rdma"}) add_programs(programs, folder);
  EXPECT_EQ(catalogued({StartedAs::kAllRanks, StartedAs::kTwoRanks, StartedAs::kEachHost}), programs);
}

TEST(Catalogue, HasEveryOtherProgramThatIsBuilt) {
  std::istringstream words(FABRICBENCH_CLUSTER_PROGRAMS);
  Names programs;
  for (std::string name; words >> name;) programs.insert(name);
  ASSERT_EQ(programs.erase("fabricbench"), 1U);
  EXPECT_EQ(catalogued({StartedAs::kAlone}), programs);
}

TEST(Catalogue, HasEveryScriptForUsers) {
  // What sets the sources up or tests them, and what is a command.
  const Names others = {"fuzz", "install_deps", "quickstart", "test", "run", "doctor", "accept"};
  Names scripts;
  for (const fs::directory_entry& file : fs::directory_iterator(kSource / "../scripts")) {
    const bool is_started = (file.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
    const std::string name = file.path().stem().string();
    if (is_started && file.path().extension() == ".sh" && others.count(name) == 0) scripts.insert(name);
  }
  Names listed;
  for (const std::string& name : catalogued({StartedAs::kScript})) listed.emplace(script_of(name));
  EXPECT_EQ(listed, scripts);
}

TEST(Catalogue, NamesEachEntryOnce) {
  Names names;
  for (const Question& question : catalogue()) {
    for (const CatalogueEntry& entry : question.entries) EXPECT_TRUE(names.emplace(entry.name).second) << entry.name;
  }
}

TEST(Catalogue, FitsIntoEightyColumns) {
  std::istringstream lines(text_of_catalogue());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  for (const Question& question : catalogue()) {
    EXPECT_TRUE(question.text.ends_with('?'));
    for (const CatalogueEntry& entry : question.entries)
      EXPECT_LT(entry.name.size(), 20U) << "the next column begins there";
  }
}

TEST(Catalogue, FindsNamesAsUsersWriteThem) {
  for (const char* given : {"all_reduce_perf", "all_reduce", "all-reduce", "all-reduce-perf"}) {
    ASSERT_NE(find_entry(given), nullptr) << given;
    EXPECT_EQ(find_entry(given)->name, "all_reduce_perf");
  }
  EXPECT_EQ(find_entry("send-recv-bw")->start, StartedAs::kTwoRanks);
  EXPECT_EQ(find_entry("sendrecv")->name, "sendrecv_perf");
  EXPECT_EQ(find_entry("sweep"), find_entry("sweep-pairs")) << "its script";
  EXPECT_EQ(names_meant_by("sweeep"), "; the nearest is sweep");
  EXPECT_EQ(find_entry(""), nullptr);
  EXPECT_EQ(find_entry("_perf"), nullptr);
  EXPECT_EQ(find_entry("all"), nullptr);
  EXPECT_EQ(find_entry("table_perf"), nullptr) << "a command, which has no suffix";
}

TEST(Catalogue, FindsProgramsByTheNamesOfTheirLinks) {
  const std::string prefix(kLinkPrefix);
  for (const char* given : {"all_reduce_perf", "all_reduce", "all-reduce"}) {
    ASSERT_NE(find_entry(prefix + given), nullptr) << given;
    EXPECT_EQ(find_entry(prefix + given)->name, "all_reduce_perf");
  }
  EXPECT_EQ(find_entry(prefix + "list_hosts")->name, "list_hosts");
  EXPECT_EQ(find_entry(prefix + "list-hosts")->name, "list_hosts");
  EXPECT_EQ(names_meant_by(prefix + "al_gather"), "; the nearest are all_gather, gather");
  if (prefix.empty()) return;
  EXPECT_EQ(find_entry(prefix), nullptr);
  EXPECT_EQ(find_entry(prefix + "accept"), nullptr) << "a script, which has no link";
  EXPECT_EQ(find_entry(prefix + "table"), nullptr) << "a command";
}

TEST(Catalogue, NamesTheNearest) {
  EXPECT_EQ(names_meant_by("al_gather"), "; the nearest are all_gather, gather");
  EXPECT_EQ(names_meant_by("selftset"), "; the nearest is selftest");
  EXPECT_EQ(names_meant_by("x"), "");
}

TEST(Catalogue, HasAllThatProgramsOfOtherToolsAreHere) {
  for (const OtherProgram& other : other_programs()) {
    EXPECT_EQ(find_entry(other.name), nullptr) << other.name;
    ASSERT_NE(find_entry(other.ours), nullptr) << other.ours;
    EXPECT_EQ(find_entry(other.ours)->name, other.ours);
  }
  EXPECT_EQ(names_meant_by("osu_bw"), "; osu_bw of OSU is send_recv_bw here");
  EXPECT_EQ(names_meant_by("iperf3"), "; iperf3 is tcp_bw here");
  EXPECT_EQ(names_meant_by("all_reduce_perf_mpi"), "; all_reduce_perf_mpi of nccl-tests is all_reduce_perf here");
  EXPECT_EQ(names_meant_by("IMB-MPI1"),
            "; IMB-MPI1 of IMB is send_recv_lat here (PingPong; Uniband is send_recv_bw, Allreduce all_reduce_perf)");
  EXPECT_EQ(names_meant_by("qperf"), "; qperf is tcp_bw here (tcp_bw; tcp_lat is tcp_lat, rc_bw rdma_send_bw)");
  EXPECT_TRUE(names_meant_by("ucx_perftest").starts_with("; ucx_perftest of UCX is send_recv_bw here (tag_bw, "));
}

using Words = std::vector<std::string>;

TEST(LaunchWords, StandBeforeTheNameOfAProgram) {
  const LaunchWords taken = take_launch_options({"--hosts", "a,b", "--dry-run", "all_reduce", "-np", "4"}, false);
  EXPECT_EQ(taken.options, (Words{"--hosts", "a,b", "--dry-run"}));
  EXPECT_EQ(taken.others, (Words{"all_reduce", "-np", "4"}));
}

TEST(LaunchWords, StandAmongItsArguments) {
  const LaunchWords taken = take_launch_options({"-b", "8", "-np", "4", "-n", "3", "--hostfile=x=y", "-w"}, true);
  EXPECT_EQ(taken.options, (Words{"-np", "4", "--hostfile", "x=y"}));
  EXPECT_EQ(taken.others, (Words{"-b", "8", "-n", "3", "-w"}));
}

TEST(LaunchWords, EndAtTwoDashes) {
  const LaunchWords taken = take_launch_options({"-np", "2", "--", "--hosts", "--", "x"}, true);
  EXPECT_EQ(taken.options, (Words{"-np", "2"}));
  EXPECT_EQ(taken.others, (Words{"--hosts", "--", "x"}));
}

TEST(LaunchWords, HaveNearestNames) {
  EXPECT_EQ(nearest_launch_options("--dry-rn"), "; the nearest is --dry-run");
  EXPECT_EQ(nearest_launch_options("--hots=a"), "; the nearest is --hosts");
  EXPECT_EQ(nearest_launch_options("--hlep"), "; the nearest is --help");
  EXPECT_EQ(nearest_launch_options("--hosts"), "") << "it exists";
  EXPECT_EQ(nearest_launch_options("--completely-other"), "");
}

TEST(LaunchWords, WantValues) {
  EXPECT_THROW((void)take_launch_options({"--hosts"}, true), UsageError);
  EXPECT_THROW((void)take_launch_options({"--dry-run=yes"}, true), UsageError);
}

}  // namespace catalogue_test
}  // namespace fabricbench::cluster
