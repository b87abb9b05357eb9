// Bytes and seconds of the units of other programs, which do not always mean the unit that they print.
#pragma once

namespace fabricbench::cluster {

inline constexpr double kBit = 0.125;
inline constexpr double kGigabit = 1e9 * kBit;
inline constexpr double kMegabyte = 1e6;
inline constexpr double kMebibyte = 1048576;
inline constexpr double kGigabyte = 1e9;
inline constexpr double kMicrosecond = 1e-6;

}  // namespace fabricbench::cluster
