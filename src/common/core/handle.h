#pragma once

#include <memory>

namespace fabricbench {

/// Releases a C library's handle with `Release`.
template <auto Release>
struct Releaser {
  template <typename T>
  void operator()(T* handle) const {
    Release(handle);
  }
};

/// The sole owner of a C library's pointer handle; move-only and the size of the pointer.
template <typename T, auto Release>
using Handle = std::unique_ptr<T, Releaser<Release>>;

}  // namespace fabricbench
