// alltoallv_perf: every rank gets a part of every rank's buffer, and parts differ.

#include <algorithm>

#include "common/options/option_sets.h"
#include "common/programs/run_program.h"

namespace fabricbench {
namespace {

class AllToAllV final : public Collective {
 public:
  AllToAllV() : Collective({.name = "alltoallv"}) {}
  [[nodiscard]] double bus_factor(int ranks) const override { return bus_factor::all_but_own(ranks); }
  void use(const Traffic& traffic) override { traffic_ = traffic; }
  [[nodiscard]] std::string why_not_ranks(int ranks) const override { return traffic_.why_not(ranks); }

  [[nodiscard]] Layout layout(Request request, int ranks) const override {
    const bool all_have_as_much = traffic_.ranks() == 0;  // part sizes depend on the distance between ranks
    Layout layout{.count = all_have_as_much ? part_of(request, ranks) : 0};
    for (int rank = 0; rank < (all_have_as_much ? 1 : ranks); ++rank) {
      const auto own = *counts(layout, {.rank = rank, .ranks = ranks, .element_bytes = request.element_bytes});
      layout.send_count = std::max(layout.send_count, own.send_offsets.back() + own.send_counts.back());
      layout.recv_count = std::max(layout.recv_count, own.recv_offsets.back() + own.recv_counts.back());
    }
    return layout;
  }

  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Participant& self) const override {
    const AllToAllVCounts own = *counts(layout, self);
    std::vector<ExpectedBlock> blocks;
    for (Participant from = self; const std::uint64_t count : own.recv_counts) {
      from.rank = static_cast<int>(blocks.size());
      const AllToAllVCounts theirs = *counts(layout, from);
      blocks.push_back({own.recv_offsets[blocks.size()], count, from.rank,
                        theirs.send_offsets[static_cast<std::size_t>(self.rank)]});
    }
    return blocks;
  }

  [[nodiscard]] std::optional<AllToAllVCounts> counts(const Layout& layout, const Participant& self) const override {
    return traffic_.counts(self.rank, self.ranks, layout.count * self.element_bytes, self.element_bytes);
  }

  void start(Backend& backend, const Operands& operands) const override {
    collectives(backend).all_to_all_v(operands.send, operands.recv, *operands.counts, operands.datatype);
  }

 private:
  Traffic traffic_;
};

}  // namespace

int alltoallv_perf(int argc, char** argv) {
  const std::string summary = "Bandwidth of alltoallv: alltoall with parts of different sizes.";
  return run_program(collective_program("alltoallv_perf", summary, option_sets::traffic()), AllToAllV(), argc, argv);
}

}  // namespace fabricbench
