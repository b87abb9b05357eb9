// The checks of results: a part of Bench.

#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/core/wording.h"
#include "common/measure/bench.h"
#include "common/measure/bench_subject.h"

namespace fabricbench {
namespace {

/// `rank`: in the job.
std::string text_of(const WrongData& wrong, int rank) {
  const std::string where = wrong.message.empty()
                                ? fmt::format("at element {}", wrong.first.first_offset)
                                : fmt::format("in {}, byte {}", wrong.message, wrong.first.first_offset);
  return fmt::format("rank {}: first {}: expected {}, got {}", rank, where, wrong.first.expected, wrong.first.got);
}

}  // namespace

/// Where all messages were lost there is nothing to check.
void Bench::check_result(Subject& subject, std::int64_t starts) {
  const auto wrong = subject.operation.check(starts);
  subject.checked += subject.operation.take_checked();
  ++subject.checked_operations;
  if (wrong) ++subject.wrong_operations;
  const std::uint64_t lost = lost_so_far() - lost_before_;
  if (lost > 0 && std::cmp_greater_equal(lost, starts) && !options_.check_all) return;
  if (wrong && subject.wrong && (options_.check_all || options_.check_each)) {
    subject.wrong->add(*wrong);
  } else if (wrong && (!subject.wrong || wrong->elements > subject.wrong->elements)) {
    subject.wrong = wrong;
  }
}

/// Of messages that are not timed: with --check all every one is checked.
void Bench::check_if_all(Subject& subject, std::int64_t starts) {
  if (options_.check_all) check_result(subject, starts);
}

/// Launches the recorded batch once more on poison, and checks its last result. The timed launches alone would not show
/// a batch that writes nothing: the warm-up has left good results.
void Bench::check_replay(Subject& subject) {
  const std::int64_t aggregated = subject.operation.aggregated();
  if (!subject.operation.last_result_is_defined(subject.plan.iterations * aggregated)) return;
  meter_.replay(subject.operation, subject.plan);
  check_result(subject, subject.plan.starts(aggregated));
}

/// Runs this many operations one at a time, and checks each: recorded ones where the timed ones are.
void Bench::check_alone(Subject& subject, std::int64_t operations) {
  for (std::int64_t i = 0; i < operations; ++i) {
    std::int64_t starts = 1;
    lost_before_ = lost_so_far();
    if (subject.plan.launches > 0) {
      meter_.run_recorded(subject.operation);
    } else {
      starts = subject.operation.run_once();
    }
    heartbeat_.tick();
    check_result(subject, starts);
  }
}

/// Adds the number of wrong elements in the group, and the first one on the lowest rank that has any.
void Bench::add_wrong(const Subject& subject, Measurement& measured) const {
  const auto& wrong = subject.wrong;
  const mpi::Communicator& group = team_.group();
  const auto elements = static_cast<std::uint64_t>(group.sum(wrong ? static_cast<std::int64_t>(wrong->elements) : 0));
  if (options_.checks > 0 && test_.traits().moves_data) measured.wrong = elements;
  if (elements == 0) return;
  measured.wrong_ranks = static_cast<std::uint64_t>(group.sum(std::int64_t{wrong ? wrong->ranks : 0}));
  measured.first_wrong = first_of_group(wrong ? text_of(*wrong, rank_in_job(wrong->rank)) : "");
}

/// Of messages with places of their own, messages are counted instead.
void Bench::add_checked_operations(const Subject& subject, Measurement& measured) const {
  if (!measured.wrong || options_.check_all) return;
  measured.checked_operations = subject.checked_operations;
  if (options_.check_each) {
    measured.wrong_operations =
        static_cast<std::uint64_t>(team_.group().max(static_cast<std::int64_t>(subject.wrong_operations)));
  }
  if (options_.check_each && subject.spent > 0) measured.checking_share = subject.checking / subject.spent;
}

void Bench::add_checked_messages(const Subject& subject, Measurement& measured) const {
  if (!options_.check_all) return;
  const mpi::Communicator& group = team_.group();
  const std::uint64_t wrong = subject.wrong ? subject.wrong->messages : 0;
  measured.checked_messages = static_cast<std::uint64_t>(group.sum(static_cast<std::int64_t>(subject.checked)));
  measured.wrong_messages = static_cast<std::uint64_t>(group.sum(static_cast<std::int64_t>(wrong)));
}

void Bench::add_checked_bits(const Subject& subject, Measurement& measured) const {
  if (options_.checks == 0 || !test_.traits().moves_data || subject.which.size == 0) return;
  measured.checked_bits_share = share_of_both(team_.group().max(subject.operation.expected_bits().flags()));
}

void Bench::add_repeatable(const Subject& subject, Measurement& measured) const {
  if (!is_repeated(subject.which)) return;
  const auto& differs = subject.unrepeated;
  const std::int64_t ranks = team_.group().sum(std::int64_t{differs ? differs->ranks : 0});
  measured.repeatable = ranks == 0;
  if (ranks == 0) return;
  const std::string first =
      first_of_group(differs ? fmt::format("rank {}: first among elements {} to {}", rank_in_job(differs->rank),
                                           differs->first_offset, differs->first_offset + differs->elements - 1)
                             : "");
  measured.unrepeated = fmt::format("{}; {}", counted(ranks, "rank"), first);
}

}  // namespace fabricbench
