// A directory that stands for `/` in tests of code that reads /proc and /sys.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace fabricbench::test {

// Lies in the system's temporary directory and goes, with all it holds, when the object does.
class FakeRoot {
 public:
  FakeRoot() : path_(make_directory()) {}
  ~FakeRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Writes a file, relative to the root, and the directories above it.
  void write(std::string_view file, std::string_view text) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
  }

  void remove(std::string_view file) const { std::filesystem::remove_all(path_ / file); }

  void make_directory(std::string_view directory) const { std::filesystem::create_directories(path_ / directory); }

  // Makes `link` a symbolic link, which need not lead anywhere.
  void link(std::string_view link, std::string_view target) const {
    std::filesystem::create_directories((path_ / link).parent_path());
    std::filesystem::remove(path_ / link);
    std::filesystem::create_symlink(target, path_ / link);
  }

 private:
  static std::filesystem::path make_directory() {
    std::string name = (std::filesystem::temp_directory_path() / "fabricbench.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp " + name);
    }
    return name;
  }

  std::filesystem::path path_;
};

}  // namespace fabricbench::test
