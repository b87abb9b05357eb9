#pragma once

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

}  // namespace fabricbench
