// What MPI says of CUDA; found by name in the program before it is looked for in the library.

#include "run.h"

namespace {

bool cuda_aware = false;

}  // namespace

void fabricbench::test::be_cuda_aware(bool yes) { cuda_aware = yes; }

extern "C" int MPIX_Query_cuda_support() { return cuda_aware ? 1 : 0; }
