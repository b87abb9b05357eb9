#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/mpi/mailbox.h"
#include "common/record/packing.h"

namespace fabricbench::sweep {

/// An endpoint's orders for a step.
struct Order {
  std::int64_t step = 0;  ///< below 0: the sweep is over
  std::int64_t round = 0;
  std::int64_t to = -1;  ///< the endpoint to send to; below 0: none
  std::int64_t from = -1;
  std::int64_t pings = 0;  ///< 1: the latency is measured too
};

/// The subjects of mail between endpoints.
enum Subject : int { kGo, kReport, kPings, kLatency, kPlan, kOutcome, kSummary, kMatrixRow };

template <typename Note>
[[nodiscard]] std::vector<std::byte> packed(const Note& note) {
  static_assert(std::is_trivially_copyable_v<Note>);
  std::vector<std::byte> bytes(sizeof(Note));
  std::memcpy(bytes.data(), &note, sizeof(Note));
  return bytes;
}

template <typename Note>
[[nodiscard]] Note unpacked(const mpi::Mailbox::Message& message) {
  static_assert(std::is_trivially_copyable_v<Note>);
  Note note;
  std::memcpy(&note, message.bytes.data(), sizeof(Note));
  return note;
}

/// The same for records with text.
template <typename Record>
[[nodiscard]] std::vector<std::byte> packed_record(const Record& record) {
  const std::string text = record::pack(record);
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

template <typename Record>
[[nodiscard]] Record unpacked_record(const mpi::Mailbox::Message& message) {
  return record::unpack<Record>({reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()});
}

}  // namespace fabricbench::sweep
