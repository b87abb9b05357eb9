#include "common/mpi/mailbox.h"

#include <sched.h>

#include <utility>

#include "common/core/clock.h"

namespace fabricbench::mpi {

Mailbox::~Mailbox() {
  for (Posted& message : posted_) {
    int done = 0;
    MPI_Test(&message.request, &done, MPI_STATUS_IGNORE);  // nulls what has ended, well or not
    if (message.request == MPI_REQUEST_NULL) continue;
    MPI_Request_free(&message.request);
    static_cast<void>(message.bytes.release());  // MPI may still read them
  }
}

void Mailbox::post(int to, int subject, std::vector<std::byte> bytes) {
  forget_delivered();
  Posted& message =
      posted_.emplace_back(Posted{MPI_REQUEST_NULL, std::make_unique<std::vector<std::byte>>(std::move(bytes))});
  check(MPI_Isend(message.bytes->data(), static_cast<int>(message.bytes->size()), MPI_BYTE, to, subject, communicator_,
                  &message.request),
        "MPI_Isend");
}

std::optional<Mailbox::Message> Mailbox::look(int from, int subject) {
  int there = 0;
  MPI_Status status;
  check(MPI_Iprobe(from, subject, communicator_, &there, &status), "MPI_Iprobe");
  if (there == 0) return std::nullopt;
  int bytes = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  Message message{status.MPI_SOURCE, std::vector<std::byte>(static_cast<std::size_t>(bytes))};
  check(MPI_Recv(message.bytes.data(), bytes, MPI_BYTE, message.from, subject, communicator_, MPI_STATUS_IGNORE),
        "MPI_Recv");
  return message;
}

std::optional<Mailbox::Message> Mailbox::wait(int from, int subject, Seconds deadline) {
  Backoff backoff;
  for (;;) {
    if (auto message = look(from, subject)) return message;
    if (now() > deadline) return std::nullopt;
    backoff.rest();
  }
}

void Mailbox::forget_delivered() {
  while (!posted_.empty()) {
    int done = 0;
    check(MPI_Test(&posted_.front().request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) return;
    posted_.pop_front();
  }
}

void Backoff::rest() {
  constexpr Seconds kEager = 1e-3;
  constexpr Seconds kPause = 100e-6;
  if (!began_) began_ = now();
  if (now() - *began_ < kEager) {
    sched_yield();
  } else {
    sleep_for(kPause);
  }
}

}  // namespace fabricbench::mpi
