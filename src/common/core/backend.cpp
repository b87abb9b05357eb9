#include "common/core/backend.h"

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench {
namespace {

[[noreturn]] void refuse(const char* operation) {
  throw Error(ExitStatus::kMissing, fmt::format("this backend carries messages between two ranks only, and has no {}; "
                                                "take --backend mpi or nccl",
                                                operation));
}

}  // namespace

void MessagesOnly::all_reduce(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                              Reduction /*reduction*/) {
  refuse("all_reduce");
}

void MessagesOnly::all_gather(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/) {
  refuse("all_gather");
}

void MessagesOnly::reduce_scatter(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                                  Reduction /*reduction*/) {
  refuse("reduce_scatter");
}

void MessagesOnly::broadcast(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                             int /*root*/) {
  refuse("broadcast");
}

void MessagesOnly::reduce(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                          Reduction /*reduction*/, int /*root*/) {
  refuse("reduce");
}

void MessagesOnly::all_to_all(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/) {
  refuse("all_to_all");
}

void MessagesOnly::all_to_all_v(const void* /*send*/, void* /*recv*/, const Exchange& /*exchange*/,
                                DataType /*datatype*/) {
  refuse("all_to_all_v");
}

void MessagesOnly::gather(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                          int /*root*/) {
  refuse("gather");
}

void MessagesOnly::scatter(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                           int /*root*/) {
  refuse("scatter");
}

void MessagesOnly::send_recv(const void* /*send*/, void* /*recv*/, std::size_t /*count*/, DataType /*datatype*/,
                             Partners /*partners*/) {
  refuse("send_recv");
}

void MessagesOnly::copy(const void* /*from*/, void* /*into*/, std::size_t /*bytes*/) { refuse("copy"); }

}  // namespace fabricbench
