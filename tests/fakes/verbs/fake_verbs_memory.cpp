// The functions of libibverbs that register memory.

#include "fake_verbs_memory.h"

#include <fcntl.h>

#include <mutex>

namespace {

std::mutex g_one_at_a_time;  // the ranks of a test may be threads

}  // namespace

extern "C" {

// In parentheses, as verbs.h has macros of some of these names, which choose between the first two.
ibv_mr*(ibv_reg_mr)(ibv_pd* /*domain*/, void* /*data*/, std::size_t /*bytes*/, int access) {
  const std::lock_guard lock(g_one_at_a_time);
  fabricbench::test::fake_verbs_memory().accesses.push_back(access);
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
  const std::lock_guard lock(g_one_at_a_time);
  --fabricbench::test::fake_verbs_memory().regions;
  return 0;
}

}  // extern "C"
