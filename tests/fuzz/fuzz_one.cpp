// The fuzzer's side: --reader=NAME, which libFuzzer leaves to us, chooses what gets the random input.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

#include "readers.h"

using namespace fabricbench;

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

const fuzz::Reader* chosen = nullptr;

}  // namespace

int LLVMFuzzerInitialize(int* count, char*** arguments) {
  constexpr std::string_view kOption = "--reader=";
  for (int i = 1; i < *count; ++i) {
    const std::string_view argument = (*arguments)[i];
    if (!argument.starts_with(kOption)) continue;
    chosen = std::find_if(fuzz::kReaders.begin(), fuzz::kReaders.end(),
                          [&](const fuzz::Reader& reader) { return reader.name == argument.substr(kOption.size()); });
  }
  if (chosen != nullptr && chosen != fuzz::kReaders.end()) return 0;
  fmt::print(stderr, "name a reader of tests/fuzz/readers.h: --reader=NAME\n");
  std::exit(2);
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->read({reinterpret_cast<const char*>(data), size});
  return 0;
}
