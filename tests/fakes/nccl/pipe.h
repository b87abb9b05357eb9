// Bytes into and out of a pipe, as many as there is room for or as there are; the number of bytes is returned.
#pragma once

#include <algorithm>
#include <cstdint>

#include "segment.h"

namespace fake_nccl {

// The pipe's memory is a ring: what reaches over its end goes on at its beginning.

inline std::uint64_t push(Pipe& pipe, const void* from, std::uint64_t bytes) {
  const std::uint64_t written = pipe.written;
  const std::uint64_t part = std::min(bytes, kPipeBytes - (written - pipe.read));
  const std::uint64_t to_end = std::min(part, kPipeBytes - written % kPipeBytes);
  const auto* source = static_cast<const std::byte*>(from);
  std::copy_n(source, to_end, &pipe.data[written % kPipeBytes]);
  std::copy_n(source + to_end, part - to_end, pipe.data.begin());
  pipe.written = written + part;
  return part;
}

inline std::uint64_t pull(Pipe& pipe, void* into, std::uint64_t bytes) {
  const std::uint64_t read = pipe.read;
  const std::uint64_t part = std::min(bytes, pipe.written - read);
  const std::uint64_t to_end = std::min(part, kPipeBytes - read % kPipeBytes);
  auto* target = static_cast<std::byte*>(into);
  std::copy_n(&pipe.data[read % kPipeBytes], to_end, target);
  std::copy_n(pipe.data.begin(), part - to_end, target + to_end);
  pipe.read = read + part;
  return part;
}

}  // namespace fake_nccl
