#include "common/mpi/cuda_support.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include "common/mpi/environment.h"

namespace fabricbench::mpi {
namespace {

constexpr int kMpichCuda = 0;  // MPIX_GPU_SUPPORT_CUDA

template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

bool says_yes() {
  if (auto* ask = find<int()>("MPIX_Query_cuda_support")) return ask() == 1;
  if (auto* ask = find<int(int, int*)>("MPIX_GPU_query_support")) {
    int supported = 0;
    return ask(kMpichCuda, &supported) == 0 && supported == 1;
  }
  return false;
}

}  // namespace

std::string why_not_cuda_aware() {
  if (says_yes()) return "";
  return fmt::format("{} does not say that it is CUDA-aware; use one built with CUDA, or leave out --memory cuda",
                     library());
}

}  // namespace fabricbench::mpi
