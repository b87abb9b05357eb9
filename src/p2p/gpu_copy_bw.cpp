// gpu_copy_bw: copies between the host's memory and its GPUs, within each GPU, and from GPU to GPU.

#include "common/harness/copy_program.h"

int main(int argc, char** argv) { return fabricbench::run_copies(argc, argv); }
