#include "common/measure/workspace.h"

namespace fabricbench {
namespace {

constexpr Bytes kLargestElement = 8;
constexpr std::uint64_t kRenewalStep = 4093;  // of the shift; two ranks get equal data only after thousands of renewals

std::uint64_t family_of(int rank) { return pattern::family(static_cast<std::uint64_t>(rank)); }

}  // namespace

Bytes allocated_bytes(Bytes pool_bytes, std::int64_t unalign) {
  return pool_bytes + static_cast<Bytes>(unalign) * kLargestElement + kGuardBytes;
}

Workspace::Workspace(Session& session, Bytes pool_bytes, bool separate_buffers, std::int64_t unalign, Ranks ranks)
    : session_(session),
      pool_bytes_(pool_bytes),
      unalign_(unalign),
      ranks_(ranks),
      recv_(session, allocated_bytes(pool_bytes, unalign)) {
  if (separate_buffers) send_.emplace(session, allocated_bytes(pool_bytes, unalign));
}

void Workspace::use(DataType datatype, Reduction reduction) {
  datatype_ = datatype;
  moves_ = reduction == Reduction::kNone;
  sent_.clear();
  other_family_.reset();
  reduced_.reset();
  if (!moves_) {
    reduced_.emplace(PatternTable::reduced(datatype, reduction, ranks_.all, session_.conventions().average));
  }
  if (moves_) sent_.push_back(PatternTable::moved(datatype, family_of(ranks_.first)));
  for (int local = 0; local < ranks_.local && !moves_; ++local) {
    sent_.push_back(PatternTable::sent(datatype, reduction, ranks_.first + local, ranks_.all));
  }
  const Bytes whole = pool_bytes_ - pool_bytes_ % facts(datatype).size;
  for (int local = 0; local < ranks_.local && send_; ++local) {
    const SourceData own = sent(local);
    session_.memory(local).fill(send(local).first(whole), own.table, own.at(0));
  }
}

SourceData Workspace::sent(int local_rank) {
  if (moves_) return moved_from(ranks_.first + local_rank);
  return {sent_[static_cast<std::size_t>(local_rank)], 0};
}

SourceData Workspace::moved_from(int rank) {
  const std::uint64_t shift =
      (pattern::source_shift(static_cast<std::uint64_t>(rank)) + renewals_ * kRenewalStep) % pattern::kPeriod;
  if (family_of(rank) == family_of(ranks_.first)) return {sent_.front(), shift};
  if (!other_family_ || other_family_number_ != family_of(rank)) {
    other_family_number_ = family_of(rank);
    other_family_.emplace(PatternTable::moved(datatype_, other_family_number_));
  }
  return {*other_family_, shift};
}

std::span<std::byte> Workspace::shifted(const Buffers& buffers, int local_rank) const {
  return buffers.on(local_rank).subspan(static_cast<std::size_t>(unalign_) * facts(datatype_).size);
}

}  // namespace fabricbench
