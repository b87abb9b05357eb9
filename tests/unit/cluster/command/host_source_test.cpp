#include "cluster/command/host_source.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "cluster/command/command_options.h"
#include "common/core/error.h"
#include "report_test_support.h"

using namespace fabricbench;
using namespace fabricbench::cluster;

namespace host_source_test {

using Texts = std::vector<std::string>;

class HostSource : public testing::Test {
 protected:
  std::string written(const std::string& name, const std::string& text) {
    const std::string path = folder_.file(name);
    std::ofstream(path) << text;
    return path;
  }

  /// Where only these variables are set, and an MPIJob's host file would be in our folder.
  Surroundings surroundings(const std::map<std::string, std::string>& variables = {}) {
    variables_ = variables;
    return {[this](const char* name) {
              const auto known = variables_.find(name);
              return known == variables_.end() ? nullptr : known->second.c_str();
            },
            folder_.file("mpi_job_hosts")};
  }

 private:
  test::TemporaryFolder folder_;
  std::map<std::string, std::string> variables_;
};

TEST_F(HostSource, IsAnMpiJobWhereThereIsNoOther) {
  const std::string path = written("mpi_job_hosts", "job-worker-0.job.default.svc slots=8\n");
  const FoundHosts found = find_hosts({}, surroundings());
  EXPECT_EQ(found.hosts.names(), Texts{"job-worker-0.job.default.svc"});
  EXPECT_EQ(found.source, path);
  EXPECT_EQ(find_hosts({}, surroundings({{"LSB_MCPU_HOSTS", "a 8"}})).source, "$LSB_MCPU_HOSTS");
}

TEST_F(HostSource, NamesTheLineOfAFileThatASchedulerNames) {
  const std::string path = written("nodes", "a\nb b\n");
  try {
    static_cast<void>(find_hosts({}, surroundings({{"PBS_NODEFILE", path}})));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.what(), path + " ($PBS_NODEFILE):2: 'b': after host 'b' only settings may follow, such as slots=8");
  }
}

TEST_F(HostSource, IsNeededAndHasHosts) {
  const auto message = [&](const HostOptions& options, const Surroundings& around) {
    try {
      static_cast<void>(find_hosts(options, around));
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({}, surroundings()),
            "no hosts: give -H node[01-16] or --hostfile FILE, or start this in a job of Slurm, PBS or LSF, or in the "
            "launcher of a Kubernetes MPIJob");
  EXPECT_EQ(message({}, surroundings({{"PBS_NODEFILE", written("empty", "# nobody\n")}})),
            "$PBS_NODEFILE names no host");
  EXPECT_EQ(message({"a", {}, "a"}, surroundings()), "--exclude 'a' removes every host of -H; keep some");
  EXPECT_EQ(message({""}, surroundings({{"LSB_MCPU_HOSTS", "a 8"}})),
            "-H: there is no host in ''; write them as node[01-16] or a,b,c")
      << "given, so those of the job are not meant";
  EXPECT_EQ(message({"", {}, "", "--hosts"}, surroundings()),
            "--hosts: there is no host in ''; write them as node[01-16] or a,b,c");
}

TEST(Share, IsPercentOrAFraction) {
  EXPECT_DOUBLE_EQ(parse_share("5%", "--x"), 0.05);
  EXPECT_DOUBLE_EQ(parse_share("0.05", "--x"), 0.05);
  EXPECT_DOUBLE_EQ(parse_share("0.5%", "--x"), 0.005);
  for (const char* text : {"", "%", "0", "0%", "1", "100%", "5", "-1%", "x", "5 %x", "nan", "inf", "1e-400"}) {
    EXPECT_THROW(static_cast<void>(parse_share(text, "--x")), UsageError) << text;
  }
}

}  // namespace host_source_test
