// Registration of memory with a libibverbs of the test's own: a test program with fake_verbs_memory.cpp decides what
// succeeds and sees what was asked for.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fabricbench::test {

struct FakeVerbsMemory {
  int pages_error = 0;          // of ibv_reg_mr
  int probe_error = EBADF;      // of ibv_reg_dmabuf_mr without a file
  int dma_buf_error = 0;        // with one
  int regions = 0;              // made and not given back
  int pages_registered = 0;     // calls of ibv_reg_mr
  int dma_bufs_registered = 0;  // calls with a file

  std::vector<int> accesses;  // of each call of ibv_reg_mr

  struct DmaBufCall {
    std::uint64_t offset;
    std::size_t bytes;
    std::uint64_t address;
    int file;
    bool open;  // the file, when it was handed over
    int access;
  };
  DmaBufCall last{};
  ibv_mr region{};
};

/// What the functions below serve.
inline FakeVerbsMemory& fake_verbs_memory() {
  static FakeVerbsMemory memory;
  return memory;
}

inline ibv_mr* fake_region(int error) {
  errno = error;
  if (error != 0) return nullptr;
  ++fake_verbs_memory().regions;
  return &fake_verbs_memory().region;
}

}  // namespace fabricbench::test
