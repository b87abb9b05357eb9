#pragma once

#include <memory>

namespace fabricbench {

/// Deletes a C library's handle by the one function that releases it.
template <auto Release>
struct Releaser {
  template <typename T>
  void operator()(T* handle) const {
    Release(handle);
  }
};

/// The one owner of a C library's pointer handle; move-only and as large as the pointer.
template <typename T, auto Release>
using Handle = std::unique_ptr<T, Releaser<Release>>;

}  // namespace fabricbench
