// usage: fuzz_replay FOLDER
//
// Gives each reader the inputs that were kept, FOLDER/READER/*, without a fuzzer. A folder without inputs is an error.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "readers.h"

using namespace fabricbench;

namespace {

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", arguments[0]);
    return 2;
  }
  for (const fuzz::Reader& reader : fuzz::kReaders) {
    int inputs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(arguments[1]) / reader.name)) {
      fmt::print("{}\n", entry.path().string());  // the last line names what broke the reader
      reader.read(contents_of(entry.path()));
      ++inputs;
    }
    if (inputs == 0) {
      fmt::print(stderr, "no input for {}\n", reader.name);
      return 1;
    }
  }
  return 0;
}
