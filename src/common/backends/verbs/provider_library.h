#pragma once

#include <dlfcn.h>

#include <string>

#include "common/core/handle.h"

namespace fabricbench::verbs {

/// The library of a provider of libibverbs, such as libmlx5.so.1, which only an option needs: loaded at run time, so
/// that programs start without it. It is the copy that libibverbs uses itself, if the device is of this provider.
class ProviderLibrary {
 public:
  /// Words for messages.
  struct Need {
    std::string option;  ///< what needs the library, such as `-c SRD`
    std::string advice;  ///< what to do without it
  };

  /// Throws Error (missing) with the reason if the library cannot be loaded.
  ProviderLibrary(std::string name, Need need);

  /// Throws Error (missing) if the library does not have it, as one of an older rdma-core.
  template <typename Function>
  [[nodiscard]] Function function(const char* name) const {
    return reinterpret_cast<Function>(address_of(name));
  }

 private:
  [[nodiscard]] void* address_of(const char* function) const;

  std::string name_;
  Need need_;
  Handle<void, &dlclose> library_;
};

}  // namespace fabricbench::verbs
