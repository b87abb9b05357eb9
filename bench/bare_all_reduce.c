/* What an 8-byte all-reduce costs with nothing around it: the yardstick for the suite's own overhead.
   usage: bare_all_reduce BYTES ITERATIONS; prints microseconds per operation, the maximum over ranks, and the
   most memory that rank 0 had resident, in KiB. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* VmHWM of /proc/self/status. */
static long peak_resident_kib(void) {
  long kib = 0;
  char line[256];
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) sscanf(line, "VmHWM: %ld", &kib);
  if (status != NULL) fclose(status);
  return kib;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = argc > 1 ? atoi(argv[1]) / (int)sizeof(float) : 2;
  const int iterations = argc > 2 ? atoi(argv[2]) : 100000;
  const size_t bytes = ((size_t)count + 1) * sizeof(float);
  float* send = malloc(bytes);
  float* recv = malloc(bytes);
  memset(send, 1, bytes); /* touched, as real data is; with 0 the compiler would make it calloc, which is not */
  memset(recv, 1, bytes);
  for (int i = 0; i < 3; ++i) MPI_Allreduce(send, recv, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) MPI_Allreduce(send, recv, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  const double own = (MPI_Wtime() - began) * 1e6 / iterations;
  double most = 0;
  MPI_Reduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%.6f %ld\n", most, peak_resident_kib());
  free(send);
  free(recv);
  MPI_Finalize();
  return 0;
}
