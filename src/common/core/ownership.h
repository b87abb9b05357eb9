// Who owns what cannot be owned twice.
#pragma once

#include <memory>

namespace fabricbench {

/// The base of classes whose objects own what cannot be owned twice, or whose addresses others keep.
class NotCopied {
 public:
  NotCopied(const NotCopied&) = delete;
  NotCopied& operator=(const NotCopied&) = delete;

 protected:
  NotCopied() = default;
  ~NotCopied() = default;
};

/// The base of interfaces.
class InterfaceBase : NotCopied {
 public:
  virtual ~InterfaceBase() = default;
};

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
