// Queue pairs that are connected within this process. Time is counted in polls of a completion queue: a poll carries
// out what its queue pairs may do in one poll.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace fabricbench::test {

struct FakeQueuePair {
  // How it behaves.
  double messages_per_poll = 1e9;
  std::uint64_t delay = 0;  // polls from posting until it may begin
  std::function<bool(std::uint64_t)> is_lost = [](std::uint64_t) { return false; };       // by number from 0
  std::function<bool(std::uint64_t)> is_overtaken = [](std::uint64_t) { return false; };  // by the message behind it
  std::function<ibv_wc_status(std::uint64_t)> ends_with = [](std::uint64_t) { return IBV_WC_SUCCESS; };
  bool keeps_order = true;  // of the bytes of a write

  // What was asked of it.
  struct Change {
    ibv_qp_attr attributes;
    int mask;
  };
  std::vector<Change> changes;
  std::uint64_t posted = 0;
  std::uint64_t carried_out = 0;

  ibv_qp handle{};
  struct Message {
    ibv_send_wr request;
    ibv_sge part;
    std::uint64_t not_before;  // this poll
  };
  std::deque<Message> waiting;
  std::deque<Message> overtaken;
  std::deque<ibv_recv_wr> receives;
  std::deque<ibv_sge> receive_parts;  // the last one of each receive
  std::uint32_t peer = 0;
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
  std::uint64_t polls = 0;
};

/// What the functions serve; a test begins with an empty one.
FakeVerbsQueues& fake_verbs_queues();

/// Gives a context the calls that verbs.h makes through it.
void add_data_path(ibv_context& context);

}  // namespace fabricbench::test
