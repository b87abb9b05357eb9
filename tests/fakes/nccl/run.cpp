#include <algorithm>
#include <cstring>
#include <mutex>

#include "rank.h"

namespace fake_nccl {
namespace {

void never_complete(const Rank& rank) {
  static_cast<void>(wait_until([] { return false; }, rank.aborted));
}

/// Faults that come instead of an operation. True where one did.
bool fails(Rank& rank, std::int64_t operation) {
  if (rank.fault.hits("async_error", rank.rank, operation)) {
    set_last_error("a link of rank " + std::to_string(rank.rank) + " broke, as the test asked for");
    rank.async_result = ncclRemoteError;
    never_complete(rank);
    return true;
  }
  if (!rank.fault.hits("hang", rank.rank, operation)) return false;
  never_complete(rank);
  return true;
}

void spoil(const Rank& rank, const Operation& operation, std::int64_t number, bool in_graph) {
  const bool hit = rank.fault.hits("wrong", rank.rank, number) ||
                   rank.fault.hits_from("wrong_from", rank.rank, number) ||
                   (in_graph && rank.fault.hits("wrong_in_graph", rank.rank));
  if (!hit || operation.recv == nullptr || operation.count == 0) return;
  operation.recv[operation.count / 2 * element_bytes(operation.type)] ^= std::byte{1};
}

bool is_message(const Operation& operation) { return operation.kind == Kind::kSend || operation.kind == Kind::kRecv; }

bool is_one_sided(const Operation& operation) { return operation.kind == Kind::kPut || operation.kind == Kind::kWait; }

/// A wait counts as what came last.
void spoil_put(const Rank& rank, const Operation& wait, std::int64_t number, bool in_graph) {
  Operation came = wait;
  came.recv = rank.incoming[static_cast<std::size_t>(wait.root)].last;
  came.count = 1;
  came.type = ncclInt8;
  spoil(rank, came, number, in_graph);
}

void run_all(Rank& rank, const std::vector<Operation>& operations, bool in_graph) {
  std::vector<Operation> messages;
  for (const Operation& operation : operations) {
    if (is_message(operation)) {
      messages.push_back(operation);
      continue;
    }
    const std::int64_t number = rank.operations++;
    if (is_one_sided(operation)) {
      if (fails(rank, number) || !run_one_sided(rank, operation)) return;
      if (operation.kind == Kind::kWait) spoil_put(rank, operation, number, in_graph);
      continue;
    }
    rank.reversed = rank.fault.kind == "reordered" && number % 2 == 1;
    if (fails(rank, number) || !run_collective(rank, operation)) return;
    spoil(rank, operation, number, in_graph);
  }
  if (messages.empty()) return;
  const std::int64_t number = rank.operations++;
  if (fails(rank, number) || !run_messages(rank, messages)) return;
  const auto received = std::find_if(messages.begin(), messages.end(),
                                     [](const Operation& message) { return message.kind == Kind::kRecv; });
  if (received != messages.end()) spoil(rank, *received, number, in_graph);
}

}  // namespace

void run(Rank& rank, const std::vector<Operation>& operations, bool in_graph) {
  ++rank.running;  // before the look at `aborted`: an abort waits for what runs
  if (!rank.aborted) run_all(rank, operations, in_graph);
  --rank.running;
}

}  // namespace fake_nccl
