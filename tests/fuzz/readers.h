// Everything that reads what comes from outside, each as a function that takes any bytes. What a reader says of bad
// ones is an Error; everything else, such as another exception, a sanitizer's finding or a broken rule, ends the
// process.
#pragma once

#include <array>
#include <string_view>

namespace fabricbench::fuzz {

void read_baselines(std::string_view input);
void read_frames(std::string_view input);
void read_hosts(std::string_view input);
void read_imports(std::string_view input);
void read_launches(std::string_view input);
void read_locality(std::string_view input);
void read_options(std::string_view input);
void read_pairs(std::string_view input);
void read_presets(std::string_view input);
void read_records(std::string_view input);
void read_sizes(std::string_view input);
void read_system(std::string_view input);

struct Reader {
  std::string_view name;
  void (*read)(std::string_view input);
};

/// scripts/fuzz.sh reads the names from here.
inline constexpr auto kReaders = std::to_array<Reader>({
    {"baselines", read_baselines},
    {"frames", read_frames},
    {"hosts", read_hosts},
    {"imports", read_imports},
    {"launches", read_launches},
    {"locality", read_locality},
    {"options", read_options},
    {"pairs", read_pairs},
    {"presets", read_presets},
    {"records", read_records},
    {"sizes", read_sizes},
    {"system", read_system},
});

}  // namespace fabricbench::fuzz
