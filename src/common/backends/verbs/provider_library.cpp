#include "common/backends/verbs/provider_library.h"

#include <utility>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::verbs {

ProviderLibrary::ProviderLibrary(std::string name, Need need)
    : name_(std::move(name)), need_(std::move(need)), library_(dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (library_) return;
  throw Error(ExitStatus::kMissing,
              fmt::format("{}: {} cannot be loaded ({}); {}", need_.option, name_, dlerror(), need_.advice));
}

void* ProviderLibrary::address_of(const char* function) const {
  void* const found = dlsym(library_.get(), function);
  if (found != nullptr) return found;
  throw Error(ExitStatus::kMissing, fmt::format("{}: {} has no {}; {}", need_.option, name_, function, need_.advice));
}

}  // namespace fabricbench::verbs
