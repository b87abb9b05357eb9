// gpu_copy_bw: copies between the host's memory and its GPUs, within each GPU, and from GPU to GPU.

#include "common/copies/copy_program.h"

namespace fabricbench {

int gpu_copy_bw(int argc, char** argv) {
  return run_copies(copy_program("gpu_copy_bw", "Bandwidth of copies between GPUs and memory within each host."), argc,
                    argv);
}

}  // namespace fabricbench
