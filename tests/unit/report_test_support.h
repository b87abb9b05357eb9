#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/record/context.h"
#include "common/record/row.h"
#include "common/report/banner.h"
#include "common/report/output_file.h"
#include "common/report/sink.h"

namespace fabricbench::test {

/// A folder of its own that goes when the object does.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = testing::TempDir() + "fabricbench-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// A sink and the text that it has written.
class WrittenSink {
 public:
  template <typename Make>
  explicit WrittenSink(Make make) : sink_(make(OutputFile(path_, false))) {}

  Sink* operator->() { return sink_.get(); }
  Sink& operator*() { return *sink_; }
  [[nodiscard]] std::string text() const { return text_of(path_); }
  [[nodiscard]] std::vector<std::string> lines() const { return lines_of(text()); }

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_.file("output");
  std::unique_ptr<Sink> sink_;
};

template <typename SinkType>
struct Written : WrittenSink {
  Written() : WrittenSink([](OutputFile output) { return std::make_unique<SinkType>(std::move(output)); }) {}
};

/// The table that people read, of a run with rows of this kind.
template <RowKind kRowKind>
struct WrittenTable : WrittenSink {
  explicit WrittenTable(const Options& options = {}, bool colour = false)
      : WrittenSink([&](OutputFile output) { return make_table(kRowKind, options, std::move(output), colour); }) {}
};

inline Measurement measurement(Seconds time, double algbw_gb, double busbw_gb) {
  Measurement measured;
  measured.summary.median = time;
  measured.summary.epochs = 9;
  measured.summary.samples = 180;
  measured.summary.interval = Interval{time * 0.99, time * 1.01, 0.961, time};
  measured.algbw = algbw_gb * 1e9;
  measured.busbw = busbw_gb * 1e9;
  measured.wrong = 0;
  measured.operations_per_sample = 1;
  measured.iterations = measured.summary.samples;
  measured.summary.jitter = 0;
  measured.summary.preemptions = 0;
  measured.summary.most_preempted_rank = 0;
  measured.summary.slowest_rank = 0;
  measured.summary.slowest_share = 1;
  return measured;
}

/// The row that nccl-tests' own example shows.
inline Row example_row() {
  Row row;
  row.size = 1073741824;
  row.count = 268435456;
  row.reduction = Reduction::kSum;
  row.out_of_place = measurement(44023.0e-6, 24.39, 45.73);
  row.in_place = measurement(43947.0e-6, 24.43, 45.81);
  row.finished = 1767225600;  // 2026-01-01T00:00:00Z
  return row;
}

inline Context example_context() {
  Context context;
  context.program = "all_reduce_perf";
  context.command_line = {"all_reduce_perf", "-b", "8"};
  context.option_values = {{"minbytes", "8"}, {"maxbytes", "128M"}};
  context.backend = "mpi";
  context.backend_reason = "no backend for GPUs is built in";
  context.library = "Open MPI 4.1.4";
  context.launcher = "mpirun";
  context.hosts = 2;
  context.ranks = {{0, 0, 101, "node-01", "some processor", "0-7", 0, 0, {}},
                   {1, 0, 202, "node-02", "some processor", "0-7", 0, 1, {}}};
  context.groups = {{"0-1", "node-01, node-02"}};
  context.host_facts.resize(2);
  context.host_facts[0] = {"node-01", "6.1", "some processor", 2, 16, 32, 1 << 20, {{0, 1 << 30, "0-31"}}, {}};
  context.host_facts[1] = {"node-02", "6.1", "some processor", 1, 8, 16, 1 << 20, {{0, 1 << 30, "0-15"}}, {}};
  context.environment = {{"UCX_TLS", "rc"}};
  context.seed = 42;
  context.timer_cost = 25e-9;
  context.clock_error = 1e-6;
  context.started = 1767225600;
  return context;
}

}  // namespace fabricbench::test
