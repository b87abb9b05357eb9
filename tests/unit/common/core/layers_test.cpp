// Reads the sources and checks the direction of dependency that docs/design.md draws.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace layers_test {

namespace fs = std::filesystem;

using Names = std::set<std::string>;

const fs::path kSource = FABRICBENCH_SOURCE_DIR;

/// What a directory may include besides itself. A directory that is not here yet has to be thought about first.
const std::map<std::string, Names> kMayInclude = {
    {"common/core", {}},
    {"common/host", {"common/core"}},
    {"common/host/checks", {"common/core", "common/host"}},
    {"common/options", {"common/core"}},
    {"common/record", {"common/core", "common/host", "common/host/checks"}},
    {"common/report", {"common/core", "common/record"}},
    {"common/mpi", {"common/core"}},
    {"common/ranks", {"common/core", "common/host", "common/mpi", "common/record"}},
    {"common/watch", {"common/core", "common/host", "common/mpi", "common/ranks"}},
    {"common/nic_counters",
     {"common/core", "common/host", "common/mpi", "common/record", "common/ranks", "common/backends/sockets"}},
    {"common/processors", {"common/core", "common/host", "common/mpi", "common/record", "common/ranks"}},
    {"common/measure",
     {"common/core", "common/host", "common/mpi", "common/record", "common/report", "common/ranks", "common/watch",
      "common/nic_counters", "common/processors"}},
    {"common/backends/cuda", {"common/core"}},
    {"common/backends/nvml", {"common/core"}},
    {"common/backends/nccl", {"common/core", "common/backends/cuda", "common/backends/nccl_device"}},
    {"common/backends/nccl_device", {"common/core"}},
    {"common/backends/nccl_device/absent", {"common/core", "common/backends/nccl_device"}},
    {"common/backends/verbs", {"common/core", "common/record"}},
    {"common/backends/verbs/absent", {"common/core", "common/backends/verbs"}},
    {"common/backends/sockets", {"common/core", "common/record"}},
    {"common/backends/gpu",
     {"common/core", "common/host", "common/mpi", "common/record", "common/ranks", "common/backends/cuda",
      "common/backends/nccl", "common/backends/nvml"}},
    {"common/backends/gpu/absent", {"common/core", "common/backends/gpu"}},
    {"common/backends/rdma_cm", {"common/core", "common/record", "common/backends/verbs"}},
    {"common/engine",
     {"common/core", "common/host", "common/options", "common/record", "common/report", "common/mpi", "common/ranks",
      "common/watch", "common/nic_counters", "common/processors", "common/measure"}},
    {"common/programs",
     {"common/core", "common/host", "common/options", "common/record", "common/report", "common/mpi", "common/ranks",
      "common/measure", "common/engine", "common/backends/gpu", "common/backends/sockets", "cluster/run"}},
    {"common/copies",
     {"common/core", "common/host", "common/options", "common/record", "common/mpi", "common/ranks", "common/watch",
      "common/engine", "common/programs", "common/backends/gpu"}},
    {"common/backends/rdma",
     {"common/core", "common/host", "common/options", "common/record", "common/mpi", "common/ranks", "common/watch",
      "common/measure", "common/processors", "common/engine", "common/programs", "common/backends/gpu",
      "common/backends/verbs", "common/backends/rdma_cm"}},
    {"collectives", {"common/programs", "common/core", "common/options"}},
    {"p2p",
     {"common/programs", "common/core", "common/options", "common/copies", "cluster/sweep", "cluster/preflight"}},
    {"rdma", {"common/programs", "common/core", "common/options", "common/backends/rdma"}},
    {"selftest", {}},
    {"cluster/pairs", {"common/core"}},
    {"cluster/pairs/structure", {"cluster/pairs"}},
    {"cluster/pairs/attribution", {"common/core", "cluster/pairs", "cluster/hosts", "cluster/pairs/structure"}},
    {"cluster/pairs/planning", {"common/core", "cluster/pairs", "cluster/pairs/structure"}},
    {"cluster/hosts", {"common/core"}},
    {"cluster/fabric", {"common/core", "cluster/hosts", "cluster/import"}},
    {"cluster/pairs/report", {"common/core", "cluster/pairs", "cluster/hosts", "cluster/pairs/structure"}},
    {"cluster/sweep",
     {"common/core", "common/options", "common/record", "common/report", "common/mpi", "common/ranks", "common/watch",
      "common/measure", "common/engine", "common/programs", "cluster/pairs", "cluster/pairs/attribution",
      "cluster/pairs/planning", "cluster/pairs/report"}},
    {"cluster/preflight",
     {"common/core", "common/host", "common/host/checks", "common/options", "common/record", "common/report",
      "common/mpi", "common/ranks", "common/watch", "common/engine", "common/programs", "common/backends/sockets",
      "cluster/fabric", "cluster/hosts", "cluster/launch"}},
    {"cluster/import", {"common/core", "cluster/pairs"}},
    {"cluster/launch", {"common/core", "common/host", "common/record"}},
    {"cluster/run",
     {"common/core", "common/host", "common/options", "common/record", "common/report", "cluster/hosts"}},
    {"cluster/command",
     {"common/core", "common/host", "common/host/checks", "common/options", "common/record", "common/report",
      "cluster/pairs", "cluster/pairs/attribution", "cluster/run", "cluster/import", "cluster/preflight",
      "cluster/launch", "cluster/pairs/planning", "cluster/fabric", "cluster/hosts", "cluster/pairs/report"}},
    {"cluster/acceptance",
     {"common/core", "common/host", "common/options", "common/record", "common/report", "cluster/pairs",
      "cluster/pairs/attribution", "cluster/run", "cluster/launch", "cluster/hosts", "cluster/command"}}};

/// Which directories may include a library's headers. The C++ library is free to all.
const std::map<std::string, Names> kLibraries = {
    {"fmt/",
     {"common/core",
      "common/options",
      "common/host",
      "common/host/checks",
      "cluster/preflight",
      "cluster/fabric",
      "common/record",
      "common/report",
      "common/mpi",
      "common/ranks",
      "common/watch",
      "common/nic_counters",
      "common/processors",
      "common/measure",
      "common/engine",
      "common/programs",
      "common/copies",
      "common/backends/sockets",
      "common/backends/cuda",
      "common/backends/nccl",
      "common/backends/nccl_device",
      "common/backends/gpu",
      "common/backends/gpu/absent",
      "common/backends/rdma",
      "common/backends/rdma_cm",
      "common/backends/verbs",
      "cluster/pairs",
      "cluster/pairs/attribution",
      "cluster/run",
      "cluster/pairs/planning",
      "cluster/hosts",
      "cluster/import",
      "cluster/launch",
      "cluster/pairs/report",
      "cluster/sweep",
      "cluster/command",
      "cluster/acceptance"}},
    {"nlohmann/", {"common/record", "common/report", "cluster/import", "cluster/command"}},
    {"simdjson.h", {"common/record"}},
    {"cuda", {"common/backends/cuda", "common/backends/nccl", "common/backends/nccl_device", "common/backends/gpu"}},
    {"nccl.h", {"common/backends/nccl", "common/backends/nccl_device"}},
    {"nccl_device", {"common/backends/nccl_device"}},
    {"infiniband/", {"common/backends/verbs", "common/backends/rdma_cm"}},
    {"rdma/", {"common/backends/rdma_cm"}},
    {"CLI/", {"common/options", "cluster/command"}},
    {"mpi.h", {"common/mpi", "selftest"}},
    {"hwloc.h", {"common/host"}}};

struct Line {
  std::string directory;  // of the file, from src/
  std::string place;      // file:number
  std::string text;
};

std::vector<Line> all_lines() {
  std::vector<Line> lines;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kSource)) {
    const std::string kind = entry.path().extension().string();
    if (kind != ".h" && kind != ".cpp" && kind != ".in" && kind != ".cu" && kind != ".cuh") continue;
    const fs::path relative = fs::relative(entry.path(), kSource);
    std::ifstream file(entry.path());
    int number = 0;
    for (std::string text; std::getline(file, text);) {
      lines.push_back({relative.parent_path().string(), relative.string() + ":" + std::to_string(++number), text});
    }
  }
  return lines;
}

/// The first group of `pattern` where the line begins with it, else nothing.
std::string captured(const std::string& text, const std::regex& pattern) {
  std::smatch match;
  return std::regex_search(text, match, pattern) ? match[1].str() : "";
}

const std::regex kOwnInclude(R"(^\s*#\s*include\s*"([^"]*)\")");
const std::regex kOtherInclude(R"(^\s*#\s*include\s*<([^>]*)>)");
const std::regex kDirective(R"(^\s*#\s*([a-z]+))");

TEST(Layers, AreReadFromTheSources) {
  const auto lines = all_lines();
  EXPECT_GT(lines.size(), 2000U) << kSource;
  Names directories;
  for (const Line& line : lines) directories.insert(line.directory);
  for (const std::string& directory : directories) {
    EXPECT_EQ(kMayInclude.count(directory), 1U) << directory << " has no place in this test's table of layers yet";
  }
}

TEST(Layers, IncludeOnlyWhatIsBelowThem) {
  for (const Line& line : all_lines()) {
    const std::string included = captured(line.text, kOwnInclude);
    if (included.empty()) continue;
    const std::string target = fs::path(included).parent_path().string();
    EXPECT_TRUE(kMayInclude.count(target) == 1) << line.place << ": '" << included << "' is not named from src/";
    const auto allowed = kMayInclude.find(line.directory);
    if (allowed == kMayInclude.end() || target == line.directory) continue;
    EXPECT_EQ(allowed->second.count(target), 1U)
        << line.place << ": " << line.directory << " may not include " << target;
  }
}

TEST(Layers, KeepALibraryInItsDirectories) {
  for (const Line& line : all_lines()) {
    const std::string included = captured(line.text, kOtherInclude);
    if (included.empty()) continue;
    const auto library = std::find_if(kLibraries.begin(), kLibraries.end(),
                                      [&](const auto& candidate) { return included.rfind(candidate.first, 0) == 0; });
    if (library == kLibraries.end()) continue;
    EXPECT_EQ(library->second.count(line.directory), 1U) << line.place << ": <" << included << ">";
  }
}

TEST(Layers, CoreIncludesTheCppLibraryAndFmtOnly) {
  for (const Line& line : all_lines()) {
    if (line.directory != "common/core") continue;
    const std::string included = captured(line.text, kOtherInclude);
    const bool standard = included.find_first_of("/.") == std::string::npos;
    EXPECT_TRUE(standard || included.rfind("fmt/", 0) == 0) << line.place << ": <" << included << ">";
  }
}

TEST(Sources, HaveNoConditionalCompilationAndNoMacros) {
  const Names allowed = {"", "include", "pragma"};
  for (const Line& line : all_lines()) {
    EXPECT_EQ(allowed.count(captured(line.text, kDirective)), 1U) << line.place << ": " << line.text;
  }
}

TEST(Sources, KeepEveryFileWithinFiveHundredLines) {
  std::map<std::string, int> lines;
  for (const Line& line : all_lines()) ++lines[line.place.substr(0, line.place.find(':'))];
  for (const auto& [file, count] : lines) EXPECT_LE(count, 500) << file;
}

}  // namespace layers_test
