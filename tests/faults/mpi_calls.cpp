// Functions of MPI that may go wrong.

#include <mpi.h>

#include <type_traits>

#include "faulty_calls.h"

using fabricbench::test::Function;

namespace {

template <typename... Parameters>
int mpi(Function& function, int (*real)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  return function.fails() ? MPI_ERR_OTHER : real(arguments...);
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  static Function self("MPI_Init");
  return mpi(self, PMPI_Init, argc, argv);
}

int MPI_Finalize() {
  static Function self("MPI_Finalize");
  static Function rest("MPI_Finalize_end");  // what is left to do when all ranks have got there
  const int result = mpi(self, PMPI_Finalize);
  return rest.fails() ? MPI_ERR_OTHER : result;
}

int MPI_Abort(MPI_Comm comm, int status) {
  static Function self("MPI_Abort");
  return mpi(self, PMPI_Abort, comm, status);
}

int MPI_Barrier(MPI_Comm comm) {
  static Function self("MPI_Barrier");
  return mpi(self, PMPI_Barrier, comm);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  static Function self("MPI_Bcast");
  return mpi(self, PMPI_Bcast, data, count, type, root, comm);
}

int MPI_Allreduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  static Function self("MPI_Allreduce");
  return mpi(self, PMPI_Allreduce, send, recv, count, type, op, comm);
}

int MPI_Reduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  static Function self("MPI_Reduce");
  return mpi(self, PMPI_Reduce, send, recv, count, type, op, root, comm);
}

int MPI_Gather(const void* send, int sent, MPI_Datatype sent_type, void* recv, int count, MPI_Datatype type, int root,
               MPI_Comm comm) {
  static Function self("MPI_Gather");
  return mpi(self, PMPI_Gather, send, sent, sent_type, recv, count, type, root, comm);
}

int MPI_Gatherv(const void* send, int sent, MPI_Datatype sent_type, void* recv, const int* counts, const int* places,
                MPI_Datatype type, int root, MPI_Comm comm) {
  static Function self("MPI_Gatherv");
  return mpi(self, PMPI_Gatherv, send, sent, sent_type, recv, counts, places, type, root, comm);
}

int MPI_Scatter(const void* send, int sent, MPI_Datatype sent_type, void* recv, int count, MPI_Datatype type, int root,
                MPI_Comm comm) {
  static Function self("MPI_Scatter");
  return mpi(self, PMPI_Scatter, send, sent, sent_type, recv, count, type, root, comm);
}

int MPI_Allgather(const void* send, int sent, MPI_Datatype sent_type, void* recv, int count, MPI_Datatype type,
                  MPI_Comm comm) {
  static Function self("MPI_Allgather");
  return mpi(self, PMPI_Allgather, send, sent, sent_type, recv, count, type, comm);
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  static Function self("MPI_Send");
  return mpi(self, PMPI_Send, data, count, type, to, tag, comm);
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  static Function self("MPI_Recv");
  return mpi(self, PMPI_Recv, data, count, type, from, tag, comm, status);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  static Function self("MPI_Isend");
  return mpi(self, PMPI_Isend, data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  static Function self("MPI_Irecv");
  return mpi(self, PMPI_Irecv, data, count, type, from, tag, comm, request);
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  static Function self("MPI_Waitall");
  return mpi(self, PMPI_Waitall, count, requests, statuses);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  static Function self("MPI_Comm_create_group");
  return mpi(self, PMPI_Comm_create_group, comm, group, tag, made);
}

int MPI_Comm_free(MPI_Comm* comm) {
  static Function self("MPI_Comm_free");
  return mpi(self, PMPI_Comm_free, comm);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  static Function self("MPI_Comm_split");
  return mpi(self, PMPI_Comm_split, comm, color, key, made);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  static Function self("MPI_Comm_split_type");
  return mpi(self, PMPI_Comm_split_type, comm, type, key, info, made);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  static Function self("MPI_Comm_dup");
  return mpi(self, PMPI_Comm_dup, comm, made);
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group* made) {
  static Function self("MPI_Comm_group");
  return mpi(self, PMPI_Comm_group, comm, made);
}

int MPI_Group_incl(MPI_Group group, int count, const int* ranks, MPI_Group* made) {
  static Function self("MPI_Group_incl");
  return mpi(self, PMPI_Group_incl, group, count, ranks, made);
}

int MPI_Group_free(MPI_Group* group) {
  static Function self("MPI_Group_free");
  return mpi(self, PMPI_Group_free, group);
}

int MPI_Op_create(MPI_User_function* combine, int commutes, MPI_Op* made) {
  static Function self("MPI_Op_create");
  return mpi(self, PMPI_Op_create, combine, commutes, made);
}

int MPI_Op_free(MPI_Op* op) {
  static Function self("MPI_Op_free");
  return mpi(self, PMPI_Op_free, op);
}

int MPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype* made) {
  static Function self("MPI_Type_contiguous");
  return mpi(self, PMPI_Type_contiguous, count, type, made);
}

int MPI_Type_create_struct(int count, const int* lengths, const MPI_Aint* places, const MPI_Datatype* types,
                           MPI_Datatype* made) {
  static Function self("MPI_Type_create_struct");
  return mpi(self, PMPI_Type_create_struct, count, lengths, places, types, made);
}

int MPI_Type_free(MPI_Datatype* type) {
  static Function self("MPI_Type_free");
  return mpi(self, PMPI_Type_free, type);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  static Function self("MPI_Test");
  return mpi(self, PMPI_Test, request, flag, status);
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  static Function self("MPI_Testall");
  return mpi(self, PMPI_Testall, count, requests, flag, statuses);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  static Function self("MPI_Iprobe");
  return mpi(self, PMPI_Iprobe, from, tag, comm, flag, status);
}

int MPI_Sendrecv(const void* send, int sent, MPI_Datatype sent_type, int to, int sent_tag, void* recv, int count,
                 MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  static Function self("MPI_Sendrecv");
  return mpi(self, PMPI_Sendrecv, send, sent, sent_type, to, sent_tag, recv, count, type, from, tag, comm, status);
}

}  // extern "C"
