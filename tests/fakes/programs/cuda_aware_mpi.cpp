/// What a CUDA-aware Open MPI answers; found by name in the program before it is looked for in the library.
extern "C" int MPIX_Query_cuda_support() { return 1; }
