// Typed data between the processes of a job, of any type that record/packing.h can pack. All functions are collective.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/mpi/communicator.h"
#include "common/record/packing.h"

namespace fabricbench {

/// Every process's value, by process, on the first one; empty on the others.
template <typename T>
[[nodiscard]] std::vector<T> gather_on_first(const mpi::Communicator& processes, const T& own) {
  std::vector<T> all;
  for (const std::string& packed : processes.gather(record::pack(own))) all.push_back(record::unpack<T>(packed));
  return all;
}

/// The same for lists, joined into one list.
template <typename T>
[[nodiscard]] std::vector<T> gather_lists_on_first(const mpi::Communicator& processes, const std::vector<T>& own) {
  std::vector<T> all;
  for (std::vector<T>& list : gather_on_first(processes, own)) {
    for (T& each : list) all.push_back(std::move(each));
  }
  return all;
}

/// The first process's value, on every process.
template <typename T>
[[nodiscard]] T broadcast_from_first(const mpi::Communicator& processes, const T& own) {
  return record::unpack<T>(processes.broadcast(processes.is_root() ? record::pack(own) : std::string()));
}

}  // namespace fabricbench
