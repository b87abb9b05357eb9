/* What a collective costs with nothing around it: the yardstick for the suite's own overhead.
   usage: bare_collective NAME BYTES ITERATIONS, NAME being all_reduce, all_gather, alltoall or broadcast and BYTES the
   larger of a rank's buffers; prints microseconds per operation, the maximum over ranks, and the most memory that
   rank 0 had resident, in KiB. */
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

typedef void Operation(float* send, float* recv, int count);

static void all_reduce(float* send, float* recv, int count) {
  MPI_Allreduce(send, recv, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static void all_gather(float* send, float* recv, int count) {
  MPI_Allgather(send, count, MPI_FLOAT, recv, count, MPI_FLOAT, MPI_COMM_WORLD);
}
static void alltoall(float* send, float* recv, int count) {
  MPI_Alltoall(send, count, MPI_FLOAT, recv, count, MPI_FLOAT, MPI_COMM_WORLD);
}
static void broadcast(float* send, float* recv, int count) {
  (void)send;
  MPI_Bcast(recv, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

/* The operation of that name; sets into how many parts it takes the bytes. */
static Operation* find(const char* name, int ranks, int* parts) {
  *parts = ranks;
  if (strcmp(name, "all_gather") == 0) return all_gather;
  if (strcmp(name, "alltoall") == 0) return alltoall;
  *parts = 1;
  if (strcmp(name, "broadcast") == 0) return broadcast;
  return strcmp(name, "all_reduce") == 0 ? all_reduce : NULL;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  int parts = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Operation* operation = argc == 4 ? find(argv[1], ranks, &parts) : NULL;
  if (operation == NULL) {
    if (rank == 0) fprintf(stderr, "usage: bare_collective all_reduce|all_gather|alltoall|broadcast BYTES ITERATIONS\n");
    MPI_Finalize();
    return 2;
  }
  const int count = atoi(argv[2]) / (int)sizeof(float) / parts;
  const int iterations = atoi(argv[3]);
  const size_t bytes = (size_t)count * (size_t)parts * sizeof(float) + sizeof(float);
  float* send = malloc(bytes);
  float* recv = malloc(bytes);
  memset(send, 1, bytes); /* touched, as real data is; with 0 the compiler would make it calloc, which is not */
  memset(recv, 1, bytes);
  for (int i = 0; i < 3; ++i) operation(send, recv, count);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) operation(send, recv, count);
  const double own = (MPI_Wtime() - began) * 1e6 / iterations;
  double most = 0;
  MPI_Reduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.6f %ld\n", most, peak_resident_kib());
  free(send);
  free(recv);
  MPI_Finalize();
  return 0;
}
