#include "job_clock.h"

#include <algorithm>
#include <utility>

#include <mpi.h>

namespace fabricbench::test {
namespace {

constexpr int kTimeTag = 32767;  // of the messages that carry times

struct Job {
  JobClock* clock = nullptr;
  Seconds call = 0;
  std::function<void()> when_met;
};

Job& job() {
  static Job only;
  return only;
}

bool is_scripted() { return job().clock != nullptr; }

/// Makes a collective call. All ranks of the communicator leave it at the time when the last one came, and what it
/// took. The two exchanges go on at once, for ranks that wait may have to wait for a processor too.
template <typename Call>
int meet(MPI_Comm communicator, Call call) {
  if (!is_scripted()) return call();
  Seconds latest = job().clock->shows();
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Iallreduce(MPI_IN_PLACE, &latest, 1, MPI_DOUBLE, MPI_MAX, communicator, &request);
  const int code = call();
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  job().clock->show(latest + job().call);
  if (job().when_met) job().when_met();
  return code;
}

}  // namespace

JobClock::JobClock(Seconds reading, Seconds call) : ScriptedClock(1000, reading) { job() = {this, call, nullptr}; }

JobClock::~JobClock() { job() = {}; }

void JobClock::when_met(std::function<void()> action) { job().when_met = std::move(action); }

}  // namespace fabricbench::test

// MPI's profiling interface: the program's own functions come before those of the library, which go on under the names
// that begin with PMPI.
using fabricbench::test::is_scripted;
using fabricbench::test::job;
using fabricbench::test::kTimeTag;
using fabricbench::test::meet;

int MPI_Barrier(MPI_Comm communicator) {
  return meet(communicator, [&] { return is_scripted() ? MPI_SUCCESS : PMPI_Barrier(communicator); });
}

int MPI_Ibarrier(MPI_Comm communicator, MPI_Request* request) {
  if (!is_scripted()) return PMPI_Ibarrier(communicator, request);
  *request = MPI_REQUEST_NULL;  // complete
  return meet(communicator, [] { return MPI_SUCCESS; });
}

int MPI_Allreduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator) {
  return meet(communicator, [&] { return PMPI_Allreduce(send, recv, count, type, op, communicator); });
}

int MPI_Allgather(const void* send, int send_count, MPI_Datatype send_type, void* recv, int recv_count,
                  MPI_Datatype recv_type, MPI_Comm communicator) {
  return meet(communicator,
              [&] { return PMPI_Allgather(send, send_count, send_type, recv, recv_count, recv_type, communicator); });
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator) {
  const int code = PMPI_Send(data, count, type, to, tag, communicator);
  if (!is_scripted()) return code;
  const fabricbench::Seconds began = job().clock->shows();
  PMPI_Send(&began, 1, MPI_DOUBLE, to, kTimeTag, communicator);
  return code;
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator, MPI_Status* status) {
  const int code = PMPI_Recv(data, count, type, from, tag, communicator, status);
  if (!is_scripted()) return code;
  fabricbench::Seconds began = 0;
  PMPI_Recv(&began, 1, MPI_DOUBLE, from, kTimeTag, communicator, MPI_STATUS_IGNORE);
  job().clock->show(std::max(job().clock->shows(), began + job().call));
  return code;
}
