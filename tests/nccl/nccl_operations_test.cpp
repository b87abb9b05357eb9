// Every primitive, with every datatype and reduction, against the pattern.

#include "nccl_fixture.h"

namespace fabricbench::nccl {
namespace nccl_operations_test {

constexpr std::size_t kCount = 1000;

class NcclOperationsTest : public NcclTest {
 protected:
  void SetUp() override {
    Options options = test_options();
    options.reductions = {Reduction::kMulSum};
    options.datatypes.clear();
    for (const DataTypeFacts& type : kDataTypes) options.datatypes.push_back(type.type);
    session_ = make_session(options);
  }

  [[nodiscard]] std::vector<DataType> datatypes() const {
    std::vector<DataType> result;
    for (const DataTypeFacts& type : kDataTypes) {
      if (session_->why_not(type.type, Reduction::kSum).empty()) result.push_back(type.type);
    }
    return result;
  }

  /// Poisons, so that what an operation leaves out is seen.
  [[nodiscard]] Buffers poisoned(std::size_t elements, DataType type) {
    Buffers buffers(*session_, elements * facts(type).size);
    for (int i = 0; i < session_->local_ranks(); ++i) session_->memory(i).set(buffers.on(i), pattern::kPoisonByte);
    return buffers;
  }

  static std::span<std::byte> part(const Buffers& buffers, int local_rank, DataType type, std::size_t first,
                                   std::size_t elements) {
    return buffers.on(local_rank).subspan(first * facts(type).size, elements * facts(type).size);
  }

  /// What a rank sends from `position` on, where data is only moved.
  static PatternPosition moved_from(int rank, std::size_t position = 0) {
    return {position, pattern::source_shift(static_cast<std::uint64_t>(rank))};
  }
  void fill_moved(const Buffers& buffers, DataType type, std::size_t first, std::size_t elements) {
    const PatternTable table = PatternTable::moved(type, 0);
    for (int i = 0; i < session_->local_ranks(); ++i) {
      session_->memory(i).fill(part(buffers, i, type, first, elements), table, moved_from(rank_of(i)));
    }
  }
  void expect_moved(const Buffers& buffers, int local_rank, DataType type, std::size_t first, std::size_t elements,
                    int source, std::size_t position = 0) {
    const auto wrong = session_->memory(local_rank)
                           .check(part(buffers, local_rank, type, first, elements), PatternTable::moved(type, 0),
                                  moved_from(source, position));
    EXPECT_FALSE(wrong) << facts(type).name << ": " << wrong->count << " wrong of source " << source << ", first at "
                        << wrong->first_offset << ": " << wrong->expected << ", got " << wrong->got;
  }

  void fill_sent(const Buffers& buffers, DataType type, Reduction reduction) {
    for (int i = 0; i < session_->local_ranks(); ++i) {
      session_->memory(i).fill(buffers.on(i), PatternTable::sent(type, reduction, rank_of(i), ranks()), {});
    }
  }
  void expect_reduced(std::span<const std::byte> bytes, int local_rank, DataType type, Reduction reduction,
                      std::size_t position = 0) {
    const PatternTable table = PatternTable::reduced(type, reduction, ranks(), session_->conventions().average);
    const auto wrong = session_->memory(local_rank).check(bytes, table, {position, 0});
    EXPECT_FALSE(wrong) << facts(type).name << " " << name(reduction) << ": " << wrong->count << " wrong, first at "
                        << wrong->first_offset << ": " << wrong->expected << ", got " << wrong->got;
  }

  /// Calls `action(datatype, reduction)` for all that there are with so many ranks.
  template <typename Action>
  void for_all_reductions(Action action) {
    for (const DataType type : datatypes()) {
      for (const Reduction reduction :
           {Reduction::kSum, Reduction::kProd, Reduction::kMin, Reduction::kMax, Reduction::kAvg, Reduction::kMulSum}) {
        if (session_->why_not(type, reduction).empty()) action(type, reduction);
      }
    }
  }

  std::unique_ptr<NcclSession> session_;
};

TEST_F(NcclOperationsTest, AllReduceReducesEveryDatatype) {
  for_all_reductions([&](DataType type, Reduction reduction) {
    const Buffers send = poisoned(kCount, type);
    const Buffers recv = poisoned(kCount, type);
    fill_sent(send, type, reduction);
    run(*session_, [&](int i, CollectiveBackend& backend) {
      backend.all_reduce(send.on(i).data(), recv.on(i).data(), kCount, type, reduction);
    });
    for (int i = 0; i < session_->local_ranks(); ++i) expect_reduced(recv.on(i), i, type, reduction);
  });
}

TEST_F(NcclOperationsTest, AllReduceWorksInPlaceAndOnMoreThanAChunk) {
  constexpr std::size_t kMany = 300007;
  const Buffers data = poisoned(kMany, DataType::kFloat);
  fill_sent(data, DataType::kFloat, Reduction::kSum);
  run(*session_, [&](int i, CollectiveBackend& backend) {
    backend.all_reduce(data.on(i).data(), data.on(i).data(), kMany, DataType::kFloat, Reduction::kSum);
  });
  for (int i = 0; i < session_->local_ranks(); ++i) expect_reduced(data.on(i), i, DataType::kFloat, Reduction::kSum);
}

TEST_F(NcclOperationsTest, ReduceReachesEveryRoot) {
  for_all_reductions([&](DataType type, Reduction reduction) {
    const int root = static_cast<int>(type) % ranks();
    const Buffers send = poisoned(kCount, type);
    const Buffers recv = poisoned(kCount, type);
    fill_sent(send, type, reduction);
    run(*session_, [&](int i, CollectiveBackend& backend) {
      backend.reduce(send.on(i).data(), recv.on(i).data(), kCount, type, reduction, root);
    });
    for (int i = 0; i < session_->local_ranks(); ++i) {
      if (rank_of(i) == root) expect_reduced(recv.on(i), i, type, reduction);
    }
  });
}

TEST_F(NcclOperationsTest, ReduceScatterLeavesARanksBlockInItsPlace) {
  const auto blocks = static_cast<std::size_t>(ranks());
  for_all_reductions([&](DataType type, Reduction reduction) {
    const Buffers send = poisoned(kCount * blocks, type);
    fill_sent(send, type, reduction);
    run(*session_, [&](int i, CollectiveBackend& backend) {
      const std::size_t own = static_cast<std::size_t>(rank_of(i)) * kCount;
      backend.reduce_scatter(send.on(i).data(), part(send, i, type, own, kCount).data(), kCount, type, reduction);
    });
    for (int i = 0; i < session_->local_ranks(); ++i) {
      const std::size_t own = static_cast<std::size_t>(rank_of(i)) * kCount;
      expect_reduced(part(send, i, type, own, kCount), i, type, reduction, own);
    }
  });
}

TEST_F(NcclOperationsTest, AllGatherOrdersTheBlocksByRank) {
  const auto blocks = static_cast<std::size_t>(ranks());
  for (const DataType type : datatypes()) {
    const Buffers send = poisoned(kCount, type);
    const Buffers recv = poisoned(kCount * blocks, type);
    fill_moved(send, type, 0, kCount);
    run(*session_, [&](int i, CollectiveBackend& backend) {
      backend.all_gather(send.on(i).data(), recv.on(i).data(), kCount, type);
    });
    for (int i = 0; i < session_->local_ranks(); ++i) {
      for (std::size_t source = 0; source < blocks; ++source) {
        expect_moved(recv, i, type, source * kCount, kCount, static_cast<int>(source));
      }
    }
  }
}

TEST_F(NcclOperationsTest, BroadcastReachesAllFromEveryRoot) {
  for (const DataType type : datatypes()) {
    for (int root = 0; root < ranks(); ++root) {
      const Buffers send = poisoned(kCount, type);
      const Buffers recv = poisoned(kCount, type);
      fill_moved(send, type, 0, kCount);
      run(*session_, [&](int i, CollectiveBackend& backend) {
        backend.broadcast(send.on(i).data(), recv.on(i).data(), kCount, type, root);
      });
      for (int i = 0; i < session_->local_ranks(); ++i) expect_moved(recv, i, type, 0, kCount, root);
    }
  }
}

TEST_F(NcclOperationsTest, AllToAllExchangesBlocks) {
  const auto blocks = static_cast<std::size_t>(ranks());
  for (const DataType type : datatypes()) {
    const Buffers send = poisoned(kCount * blocks, type);
    const Buffers recv = poisoned(kCount * blocks, type);
    fill_moved(send, type, 0, kCount * blocks);
    run(*session_, [&](int i, CollectiveBackend& backend) {
      backend.all_to_all(send.on(i).data(), recv.on(i).data(), kCount, type);
    });
    for (int i = 0; i < session_->local_ranks(); ++i) {
      for (std::size_t source = 0; source < blocks; ++source) {
        expect_moved(recv, i, type, source * kCount, kCount, static_cast<int>(source),
                     static_cast<std::size_t>(rank_of(i)) * kCount);
      }
    }
  }
}

/// Rank a sends 100 * ((a + b) % 3) elements to rank b: a third of the parts are empty.
std::uint64_t part_size(int from, int to) { return 100 * static_cast<std::uint64_t>((from + to) % 3); }

AllToAllVCounts uneven_exchange(int rank, int ranks) {
  AllToAllVCounts counts;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (int peer = 0; peer < ranks; ++peer) {
    counts.send_counts.push_back(part_size(rank, peer));
    counts.send_offsets.push_back(sent);
    counts.recv_counts.push_back(part_size(peer, rank));
    counts.recv_offsets.push_back(received);
    sent += part_size(rank, peer);
    received += part_size(peer, rank);
  }
  return counts;
}

TEST_F(NcclOperationsTest, AllToAllVExchangesUnequalParts) {
  const std::size_t room = 200 * static_cast<std::size_t>(ranks());
  const Buffers send = poisoned(room, DataType::kInt32);
  const Buffers recv = poisoned(room, DataType::kInt32);
  fill_moved(send, DataType::kInt32, 0, room);
  run(*session_, [&](int i, CollectiveBackend& backend) {
    backend.all_to_all_v(send.on(i).data(), recv.on(i).data(), uneven_exchange(rank_of(i), ranks()), DataType::kInt32);
  });
  for (int i = 0; i < session_->local_ranks(); ++i) {
    const AllToAllVCounts own = uneven_exchange(rank_of(i), ranks());
    for (int source = 0; source < ranks(); ++source) {
      const auto peer = static_cast<std::size_t>(source);
      expect_moved(recv, i, DataType::kInt32, own.recv_offsets[peer], own.recv_counts[peer], source,
                   uneven_exchange(source, ranks()).send_offsets[static_cast<std::size_t>(rank_of(i))]);
    }
  }
}

TEST_F(NcclOperationsTest, GatherCollectsAtEveryRoot) {
  const auto blocks = static_cast<std::size_t>(ranks());
  for (int root = 0; root < ranks(); ++root) {
    const Buffers send = poisoned(kCount, DataType::kHalf);
    const Buffers recv = poisoned(kCount * blocks, DataType::kHalf);
    fill_moved(send, DataType::kHalf, 0, kCount);
    run(*session_, [&](int i, CollectiveBackend& backend) {
      backend.gather(send.on(i).data(), recv.on(i).data(), kCount, DataType::kHalf, root);
    });
    for (int i = 0; i < session_->local_ranks(); ++i) {
      for (std::size_t source = 0; source < blocks && rank_of(i) == root; ++source) {
        expect_moved(recv, i, DataType::kHalf, source * kCount, kCount, static_cast<int>(source));
      }
    }
  }
}

TEST_F(NcclOperationsTest, ScatterDealsOutFromEveryRoot) {
  const auto blocks = static_cast<std::size_t>(ranks());
  for (int root = 0; root < ranks(); ++root) {
    const Buffers send = poisoned(kCount * blocks, DataType::kDouble);
    const Buffers recv = poisoned(kCount, DataType::kDouble);
    fill_moved(send, DataType::kDouble, 0, kCount * blocks);
    run(*session_, [&](int i, CollectiveBackend& backend) {
      backend.scatter(send.on(i).data(), recv.on(i).data(), kCount, DataType::kDouble, root);
    });
    for (int i = 0; i < session_->local_ranks(); ++i) {
      expect_moved(recv, i, DataType::kDouble, 0, kCount, root, static_cast<std::size_t>(rank_of(i)) * kCount);
    }
  }
}

TEST_F(NcclOperationsTest, SendRecvGoesRoundTheRing) {
  constexpr std::size_t kMany = 50021;  // more than a pipe of the fake holds
  const Buffers send = poisoned(kMany, DataType::kUint64);
  const Buffers recv = poisoned(kMany, DataType::kUint64);
  fill_moved(send, DataType::kUint64, 0, kMany);
  run(*session_, [&](int i, CollectiveBackend& backend) {
    const Partners partners{(rank_of(i) + 1) % ranks(), (rank_of(i) + ranks() - 1) % ranks()};
    backend.send_recv(send.on(i).data(), recv.on(i).data(), kMany, DataType::kUint64, partners);
  });
  for (int i = 0; i < session_->local_ranks(); ++i) {
    expect_moved(recv, i, DataType::kUint64, 0, kMany, (rank_of(i) + ranks() - 1) % ranks());
  }
}

TEST_F(NcclOperationsTest, CopyAndBarrierStandInOrderWithOperations) {
  const Buffers send = poisoned(kCount, DataType::kInt8);
  const Buffers copied = poisoned(kCount, DataType::kInt8);
  const Buffers recv = poisoned(kCount, DataType::kInt8);
  fill_moved(send, DataType::kInt8, 0, kCount);
  for (int i = 0; i < session_->local_ranks(); ++i) {
    collectives(session_->backend(i)).copy(send.on(i).data(), copied.on(i).data(), kCount);
    collectives(session_->backend(i)).copy(send.on(i).data(), send.on(i).data(), kCount);
  }
  start(*session_, [](int, CollectiveBackend& backend) { backend.barrier(); });
  run(*session_, [&](int i, CollectiveBackend& backend) {
    backend.broadcast(copied.on(i).data(), recv.on(i).data(), kCount, DataType::kInt8, 0);
  });
  for (int i = 0; i < session_->local_ranks(); ++i) expect_moved(recv, i, DataType::kInt8, 0, kCount, 0);
}

TEST_F(NcclOperationsTest, OneGroupTakesManyOperations) {
  const Buffers first = poisoned(kCount, DataType::kInt64);
  const Buffers second = poisoned(kCount, DataType::kInt64);
  fill_sent(first, DataType::kInt64, Reduction::kSum);
  fill_sent(second, DataType::kInt64, Reduction::kSum);
  run(*session_, [&](int i, CollectiveBackend& backend) {
    for (const Buffers* data : {&first, &second}) {
      backend.all_reduce(data->on(i).data(), data->on(i).data(), kCount, DataType::kInt64, Reduction::kSum);
    }
  });
  for (int i = 0; i < session_->local_ranks(); ++i) {
    expect_reduced(first.on(i), i, DataType::kInt64, Reduction::kSum);
    expect_reduced(second.on(i), i, DataType::kInt64, Reduction::kSum);
  }
}

TEST_F(NcclOperationsTest, EmptyOperationsDoNothing) {
  const Buffers data = poisoned(kCount, DataType::kFloat);
  fill_moved(data, DataType::kFloat, 0, kCount);
  run(*session_, [&](int i, CollectiveBackend& backend) {
    backend.all_reduce(data.on(i).data(), data.on(i).data(), 0, DataType::kFloat, Reduction::kSum);
    backend.all_to_all(data.on(i).data(), data.on(i).data(), 0, DataType::kFloat);
  });
  for (int i = 0; i < session_->local_ranks(); ++i) expect_moved(data, i, DataType::kFloat, 0, kCount, rank_of(i));
}

}  // namespace nccl_operations_test
}  // namespace fabricbench::nccl
