// Queue pairs that are connected within this process. Time is counted in polls of a completion queue: a poll carries
// out what its queue pairs may do in one poll.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

namespace fabricbench::test {

struct FakeReceive {
  ibv_recv_wr request;
  ibv_sge part;  // the last one
};

struct FakeSharedReceives {
  std::size_t room = 0;  // of the queue
  std::deque<FakeReceive> receives;
};

struct FakeQueuePair {
  FakeQueuePair() = default;
  FakeQueuePair(const FakeQueuePair&) = delete;
  FakeQueuePair& operator=(const FakeQueuePair&) = delete;

  // How it behaves.
  double messages_per_poll = 1e9;
  std::uint64_t delay = 0;  // polls from posting until it may begin
  std::function<bool(std::uint64_t)> is_lost = [](std::uint64_t) { return false; };       // by number from 0
  std::function<bool(std::uint64_t)> is_overtaken = [](std::uint64_t) { return false; };  // by the message behind it
  std::function<bool(std::uint64_t)> is_corrupted = [](std::uint64_t) { return false; };  // in a bit of its last byte
  std::function<ibv_wc_status(std::uint64_t)> ends_with = [](std::uint64_t) { return IBV_WC_SUCCESS; };
  bool keeps_order = true;   // of the bytes of a write
  bool in_order = true;      // of messages and of their completions; false: any that waits may be the next
  bool signals_all = false;  // refuses requests without a signal
  std::size_t room = 0;      // requests that it takes at a time; 0: any number

  // What was asked of it.
  struct Change {
    ibv_qp_attr attributes;
    int mask;
  };
  std::vector<Change> changes;
  std::uint64_t posted = 0;
  std::uint64_t carried_out = 0;

  ibv_qp_ex extended{};  // for ibv_wr_*
  ibv_qp& handle = extended.qp_base;
  struct Message {
    ibv_send_wr request;
    ibv_sge part;
    std::uint64_t not_before;  // this poll
    bool corrupted = false;
    std::uint32_t destination = 0;  // number of a queue pair; 0: the own one is connected
    std::uint64_t key = 0;          // that the destination must have
    bool is_inline = false;         // whether the data was copied when the request was made, to here:
    std::array<std::byte, 256> inlined{};
  };
  std::deque<Message> made;  // between ibv_wr_start and ibv_wr_complete
  std::deque<Message> waiting;
  std::deque<Message> overtaken;
  std::deque<FakeReceive> receives;
  ibv_srq* shared = nullptr;      // whose receives are taken instead
  std::uint32_t late_number = 0;  // that it gets when it becomes ready to receive, as a DC target; 0: it has one
  std::uint32_t peer = 0;
  std::uint64_t key = 0;            // that messages must have
  bool names_destinations = false;  // each message does
  bool retries_unready = false;     // waits until the receiver has a receive
  double allowance = 0;
};

struct FakeVerbsQueues {
  std::uint32_t most_inline = 1024;       // bytes; a queue pair for more is refused
  std::deque<FakeQueuePair> queue_pairs;  // numbered from 1, in the order of their creation
  struct Arrived {
    ibv_cq* queue;
    ibv_wc completion;
  };
  std::deque<Arrived> completions;
  std::map<ibv_srq*, FakeSharedReceives> shared_receives;
  std::vector<ibv_ah_attr> ways;  // of the address handles made
  std::uint64_t polls = 0;
};

/// What the functions serve; a test begins with an empty one.
FakeVerbsQueues& fake_verbs_queues();

/// Gives a context the calls that verbs.h makes through it.
void add_data_path(ibv_context& context);

/// In the reset state.
FakeQueuePair& add_queue_pair(ibv_pd* domain, ibv_cq* sends, ibv_cq* receives, ibv_qp_type type);

/// The one with this handle.
FakeQueuePair& owner_of(const ibv_qp* handle);

/// A queue pair to which ibv_wr_* post, with the calls that `wanted` names. Its requests still need a way to name their
/// destination.
FakeQueuePair& add_extended(ibv_pd* domain, const ibv_qp_init_attr_ex& wanted);

/// Names the destination of the request that is being made; `key` must be that of the queue pair with this number.
void name_destination(ibv_qp_ex* making, std::uint32_t number, std::uint64_t key);

}  // namespace fabricbench::test
