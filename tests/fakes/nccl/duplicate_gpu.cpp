// NCCL's words of 2.18 to 2.29 (initTransportsRank in its src/init.cc).
#include <array>
#include <cstdio>

#include "version.h"

namespace fake_nccl {

std::string shared_gpu_text(int rank, int other, unsigned bus) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "Duplicate GPU detected : rank %d and rank %d both on CUDA device %x", rank,
                other, bus << 12);
  return text.data();
}

}  // namespace fake_nccl
