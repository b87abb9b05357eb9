#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/core/error.h"

namespace fabricbench::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Errors must say something.
template <typename Reader>
void tolerate(const Reader& reader) {
  try {
    reader();
  } catch (const Error& error) {
    require(!std::string_view(error.what()).empty());
  }
}

/// A file with these contents that is on no disk.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view contents) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
    const ssize_t written = write(descriptor_, contents.data(), contents.size());
    require(written == static_cast<ssize_t>(contents.size()));
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }

  [[nodiscard]] std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

}  // namespace fabricbench::fuzz
