// alltoallv_perf: every rank gets a part of every rank's buffer, and parts differ.

#include <algorithm>

#include "common/harness/program.h"
#include "common/options/option_sets.h"

namespace fabricbench {
namespace {

class AllToAllV final : public Collective {
 public:
  [[nodiscard]] std::string_view name() const override { return "alltoallv"; }
  void use(const Traffic& traffic) override { traffic_ = traffic; }

  [[nodiscard]] std::string why_not(int ranks) const override {
    if (traffic_.ranks() == 0 || static_cast<std::size_t>(ranks) <= traffic_.ranks()) return "";
    return "the traffic matrix has fewer rows than there are ranks";
  }

  [[nodiscard]] Layout layout(Request request, int ranks) const override {
    Layout layout{.count = traffic_.ranks() > 0 ? 0 : part_of(request, ranks)};
    for (int rank = 0; rank < (traffic_.ranks() > 0 ? ranks : 1); ++rank) {  // by distance, all have as much
      const Exchange own = *exchange(layout, {.rank = rank, .ranks = ranks, .element_bytes = request.element_bytes});
      layout.send_count = std::max(layout.send_count, own.send_offsets.back() + own.send_counts.back());
      layout.recv_count = std::max(layout.recv_count, own.recv_offsets.back() + own.recv_counts.back());
    }
    return layout;
  }

  [[nodiscard]] double bus_factor(int ranks) const override { return bus_factor::all_but_own(ranks); }

  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& layout, const Seat& seat) const override {
    const Exchange own = *exchange(layout, seat);
    std::vector<ExpectedBlock> blocks;
    for (Seat from = seat; const std::uint64_t count : own.recv_counts) {
      from.rank = static_cast<int>(blocks.size());
      const Exchange theirs = *exchange(layout, from);
      blocks.push_back({own.recv_offsets[blocks.size()], count, from.rank,
                        theirs.send_offsets[static_cast<std::size_t>(seat.rank)]});
    }
    return blocks;
  }

  [[nodiscard]] std::optional<Exchange> exchange(const Layout& layout, const Seat& seat) const override {
    return traffic_.exchange(seat.rank, seat.ranks, layout.count * seat.element_bytes, seat.element_bytes);
  }

  void start(Backend& backend, const Operands& operands) const override {
    backend.all_to_all_v(operands.send, operands.recv, *operands.exchange, operands.datatype);
  }

 private:
  Traffic traffic_;
};

}  // namespace

int alltoallv_perf(int argc, char** argv) {
  Program program = collective_program("alltoallv_perf", "Bandwidth of alltoallv: every rank gets a part of every rank's buffer, and parts differ in size.");
  program.options = join({program.options, option_sets::traffic()});
  return run_program(program, AllToAllV(), argc, argv);
}

}  // namespace fabricbench
