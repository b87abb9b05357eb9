// One function whose calls are counted, and of which one may go wrong: faulty_calls.cpp says how. What takes a
// function's place has one of these as a static variable.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <string_view>

namespace fabricbench::test {

enum class Effect { kNone, kFails, kShort };

class Function {
 public:
  explicit Function(const char* name);

  /// Counts a call, and does to it what is to be done before it.
  Effect effect();

  /// True: nothing is to be done, and an error returned.
  bool fails() { return effect() == Effect::kFails; }

  /// Whether the chosen call was there.
  [[nodiscard]] bool past(std::string_view fault) const;

  static void write_counts();

 private:
  static inline std::atomic<Function*> first = nullptr;

  const char* name_;
  bool is_chosen_;
  std::atomic<long> calls_ = 0;
  Function* next_ = nullptr;
};

/// The library's own.
template <typename Signature>
Signature* next(const char* name) {
  return reinterpret_cast<Signature*>(dlsym(RTLD_NEXT, name));
}

}  // namespace fabricbench::test
