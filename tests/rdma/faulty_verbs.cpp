// Loaded before libibverbs (LD_PRELOAD), shows what never does without it:
//
//   FAULTY_VERBS  keys: memory that is registered is given a remote key that is none, so that what the other rank is
//                 told leads nowhere
//                 tell: what the environment says to the device's driver when that is opened, on stderr

#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr std::uint32_t kWrong = 0x5a5a5a;  // in bits that name the region

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool asked_for(std::string_view fault) {
  const char* const chosen = std::getenv("FAULTY_VERBS");
  return chosen != nullptr && chosen == fault;
}

ibv_mr* with_wrong_key(ibv_mr* region) {
  if (region != nullptr && asked_for("keys")) region->rkey ^= kWrong;
  return region;
}

}  // namespace

extern "C" ibv_context*(ibv_open_device)(ibv_device* device) {
  const char* const scatter = std::getenv("MLX5_SCATTER_TO_CQE");
  if (asked_for("tell")) std::fprintf(stderr, "MLX5_SCATTER_TO_CQE=%s\n", scatter == nullptr ? "" : scatter);
  return next<ibv_context* (*)(ibv_device*)>("ibv_open_device")(device);
}

// In parentheses, as verbs.h has a macro of this name, which calls the second one where flags are not constants.
extern "C" ibv_mr*(ibv_reg_mr)(ibv_pd* domain, void* data, std::size_t bytes, int access) {
  using Register = ibv_mr* (*)(ibv_pd*, void*, std::size_t, int);
  return with_wrong_key(next<Register>("ibv_reg_mr")(domain, data, bytes, access));
}

extern "C" ibv_mr*(ibv_reg_mr_iova2)(ibv_pd* domain, void* data, std::size_t bytes, std::uint64_t address,
                                     unsigned access) {
  using Register = ibv_mr* (*)(ibv_pd*, void*, std::size_t, std::uint64_t, unsigned);
  return with_wrong_key(next<Register>("ibv_reg_mr_iova2")(domain, data, bytes, address, access));
}
