#pragma once

// A library that does nothing, on host memory: what tests of the harness measure. They override what they need.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/core/memory.h"
#include "common/core/session.h"

namespace fabricbench::test {

/// Every primitive does nothing.
class IdleBackend : public CollectiveBackend {
 public:
  void all_reduce(const void*, void*, std::size_t, DataType, Reduction) override {}
  void all_gather(const void*, void*, std::size_t, DataType) override {}
  void reduce_scatter(const void*, void*, std::size_t, DataType, Reduction) override {}
  void broadcast(const void*, void*, std::size_t, DataType, int) override {}
  void reduce(const void*, void*, std::size_t, DataType, Reduction, int) override {}
  void all_to_all(const void*, void*, std::size_t, DataType) override {}
  void all_to_all_v(const void*, void*, const AllToAllVCounts&, DataType) override {}
  void gather(const void*, void*, std::size_t, DataType, int) override {}
  void scatter(const void*, void*, std::size_t, DataType, int) override {}
  void send_recv(const void*, void*, std::size_t, DataType, Partners) override {}
  void send(const void*, std::size_t, DataType, int) override {}
  void recv(void*, std::size_t, DataType, int) override {}
  void start_send(const void*, std::size_t, DataType, int) override {}
  void start_recv(void*, std::size_t, DataType, int) override {}
  void finish() override {}
  void copy(const void*, void*, std::size_t) override {}
  void barrier() override {}
};

/// One rank of this process for each backend given, all in this process's memory. Counts what is asked of it.
class HostSession : public Session {
 public:
  explicit HostSession(std::vector<Backend*> backends) : backends_(std::move(backends)) {}
  explicit HostSession(Backend& backend) : HostSession(std::vector{&backend}) {}

  [[nodiscard]] std::string library() const override { return "fake"; }
  [[nodiscard]] Conventions conventions() const override { return own_conventions; }
  [[nodiscard]] int local_ranks() const override { return static_cast<int>(backends_.size()); }
  [[nodiscard]] Backend& backend(int local_rank) override { return *backends_[static_cast<std::size_t>(local_rank)]; }
  [[nodiscard]] Memory& memory(int) override { return memory_; }
  [[nodiscard]] std::vector<std::byte*> allocate(std::size_t bytes) override {
    std::vector<std::byte*> blocks;
    for (std::size_t i = 0; i < backends_.size(); ++i) blocks.push_back(HostMemory::allocate(bytes));
    blocks_held += static_cast<int>(blocks.size());
    return blocks;
  }
  void release(const std::vector<std::byte*>& blocks) noexcept override {
    for (std::byte* block : blocks) HostMemory::release(block);
    blocks_held -= static_cast<int>(blocks.size());
  }
  void begin_group() override { ++groups_begun; }
  void end_group() override { ++groups_ended; }
  void wait() override { ++waits; }

  Conventions own_conventions;
  int blocks_held = 0;
  int groups_begun = 0;
  int groups_ended = 0;
  int waits = 0;

 private:
  std::vector<Backend*> backends_;
  HostMemory memory_;
};

}  // namespace fabricbench::test
