// Registration of memory with a libibverbs of the test's own: the test program that includes this, once, decides what
// succeeds and sees what was asked for.
#pragma once

#include <fcntl.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace fabricbench::test {

struct FakeVerbsMemory {
  int pages_error = 0;          // of ibv_reg_mr
  int probe_error = EBADF;      // of ibv_reg_dmabuf_mr without a file
  int dma_buf_error = 0;        // with one
  int regions = 0;              // made and not given back
  int pages_registered = 0;     // calls of ibv_reg_mr
  int dma_bufs_registered = 0;  // calls with a file

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

extern "C" {

// In parentheses, as verbs.h has macros of some of these names, which choose between the first two.
ibv_mr*(ibv_reg_mr)(ibv_pd* /*domain*/, void* /*data*/, std::size_t /*bytes*/, int /*access*/) {
  ++fabricbench::test::fake_verbs_memory().pages_registered;
  return fabricbench::test::fake_region(fabricbench::test::fake_verbs_memory().pages_error);
}

ibv_mr*(ibv_reg_mr_iova2)(ibv_pd* domain, void* data, std::size_t bytes, std::uint64_t /*address*/, unsigned access) {
  return (ibv_reg_mr)(domain, data, bytes, static_cast<int>(access));
}

ibv_mr*(ibv_reg_dmabuf_mr)(ibv_pd* /*domain*/, std::uint64_t offset, std::size_t bytes, std::uint64_t address, int file,
                           int access) {
  auto& memory = fabricbench::test::fake_verbs_memory();
  if (file == -1) return fabricbench::test::fake_region(memory.probe_error);
  ++memory.dma_bufs_registered;
  memory.last = {offset, bytes, address, file, fcntl(file, F_GETFD) != -1, access};
  return fabricbench::test::fake_region(memory.dma_buf_error);
}

int(ibv_dereg_mr)(ibv_mr* /*region*/) {
  --fabricbench::test::fake_verbs_memory().regions;
  return 0;
}

}  // extern "C"
