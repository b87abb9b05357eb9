// The kinds of findings. The table at the end has all that differs between them: the others ask it, and compare no
// kinds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fabricbench::cluster {

/// What is to blame.
enum class Blame : std::uint8_t {
  kHost,       ///< a host that is slow with all partners, on all of its rails
  kNic,        ///< one of several rails of a host: its NIC, cable, transceiver, PCIe link or GPU
  kPair,       ///< the path between two hosts that are both fine with all others
  kLeaf,       ///< the uplinks of a leaf: its hosts are slow with hosts of other leaves, and fine with each other
  kLeafPair,   ///< the path between two leaves: a spine
  kRail,       ///< one rail of most hosts: its switches; it is slow, or nothing can be measured over it
  kDevice,     ///< a GPU, NIC or switch port that several hosts used, or one host besides others; slow for all of them
  kTransient,  ///< a host that is slow now and then with any partner: a flapping link, or another job. With two hosts:
               ///< the path between them
  kDead,  ///< a host with which nothing can be measured, perhaps in one direction only, though its partners work with
          ///< others
  kDeadPair,   ///< two hosts that fail with each other, and work with others
  kWrongData,  ///< a host whose data arrive wrong with several partners, or two hosts whose data arrive wrong
  kCutOff,     ///< hosts that work with each other, and not with the others: the connection between them
  kAll,        ///< everything: no pair reaches what was expected (VerdictSettings::expected)
  kUndecided   ///< slow or failed: the readings cannot tell which of the hosts, or the path, is to blame
};

/// A verdict by host. Every host of the sweep is in exactly one list, in natural order (see comes_before). A host with
/// several findings is in the first list that applies.
struct HostLists {
  std::vector<std::string> dead;        ///< nothing can be measured with it
  std::vector<std::string> cut_off;     ///< works with some hosts, and not with the rest
  std::vector<std::string> wrong_data;  ///< its data arrive wrong
  std::vector<std::string> slow;        ///< the host, or one of its NICs
  std::vector<std::string> unsteady;    ///< slow now and then
  std::vector<std::string> suspect;     ///< it, another host or the path between them; more readings would tell
  std::vector<std::string> not_judged;
  std::vector<std::string> fine;  ///< a path between two of them may be slow nonetheless
  std::string marks;              ///< by place in Sweep::hosts, as in HeatLayout
};

/// What to do next about a finding: bits of FindingForm::next, in the order of the commands.
enum Next : std::uint8_t {
  kUptime = 1,       ///< does the host answer?
  kSweepAgain = 2,   ///< its hosts with healthy ones, one pair at a time
  kPairAgain = 4,    ///< its two hosts
  kWithHealthy = 8,  ///< its host with one healthy host
  kHostPorts = 16,   ///< state and error counters of the host
  kDevices = 32,
  kSwitches = 64,
  kPing = 128  ///< from one host to the other
};

/// What a finding's words depend on (report/finding_words.cpp).
struct Told;
namespace words {
using Condition = bool(const Told&);
Condition of_any, of_path, no_figure, of_found_groups, of_nic, of_gpu, of_switch_port;
using Sentence = std::string(const Told&);
Sentence everything, cut_off, dead_host, wrong_data, slow_host, nic, unsteady_path, unsteady_host, leaf, leaf_pair,
    rail, device, path, dead_path, undecided;
}  // namespace words

/// How findings of a kind are reported.
struct FindingForm {
  words::Condition* applies = nullptr;  ///< to a finding that no earlier form of its kind applies to
  std::string_view tag;                 ///< in capitals before the sentence
  std::string_view title;      ///< of its line for scripts, such as `Slow path`; empty: a list of hosts says it
  std::string_view noun;       ///< with `adjective`, for the headline: `host`, `slow`; empty: it says so otherwise
  std::string_view adjective;  ///< without a noun, a whole clause of the headline
  std::vector<std::string> HostLists::*hosts = nullptr;  ///< the list that its hosts belong to
  words::Sentence* text = nullptr;
  int next = 0;  ///< bits of Next
};

/// How a kind differs from a slow host: bits of FindingTraits::traits.
enum Trait : std::uint8_t {
  kOpen = 1,          ///< nothing is blamed yet
  kComesAndGoes = 2,  ///< Finding::slow_rounds are those in which it shows; of a host, meetings are counted
  kCountsRails = 4,   ///< on two rails of a host it is two things
  kStandsAlone = 8,   ///< is never reported as one with others: its sentence names groups or devices
  kLostOthers = 16,   ///< its hosts have lost the other ones, and two of them are no path
  kOverDevices = 32   ///< its hosts are fine themselves, and two of them are no path: devices are to blame
};

struct FindingTraits {
  Blame blame;
  std::string_view name;            ///< in JSON
  int traits = 0;                   ///< bits of Trait
  std::string_view certainty = "";  ///< empty: Finding::false_alarm applies
  /// What Finding::slow readings have instead of a deficit, such as `wrong data`; empty: Finding::ratio is a deficit.
  std::string_view readings_with = "";

  [[nodiscard]] constexpr bool is(int any_of) const { return (traits & any_of) != 0; }
};

struct FindingKind : FindingTraits {
  std::array<FindingForm, 4> forms;
};

/// All kinds in the order of the headline, where a host counts once, as the first of these that is said of it.
inline constexpr auto kFindingKinds = [] {
  using Of = HostLists;
  using enum Blame;
  using namespace words;
  constexpr int kHostNext = kSweepAgain | kHostPorts;
  constexpr int kPathNext = kPairAgain | kSwitches;
  constexpr std::string_view kFar = "slow towards the others";
  constexpr std::string_view kWrong = "delivering wrong data";
  constexpr std::string_view kLeaves = "Slow path of leaves";
  return std::to_array<FindingKind>({
      {{kAll, "all", kStandsAlone, "it is compared with --expect, so no probability applies"},
       {{{of_any, "ALL SLOW", "", "", "everything is slower than expected", &Of::slow, everything, kSwitches}}}},
      {{kCutOff, "cut_off", kLostOthers | kStandsAlone},
       {{{of_any, "CUT OFF", "", "host", "cut off", &Of::cut_off, cut_off, kSwitches}}}},
      {{kDead, "dead"}, {{{of_any, "DEAD HOST", "", "host", "dead", &Of::dead, dead_host, kUptime | kWithHealthy}}}},
      {{kWrongData, "wrong_data", 0, "data were compared, so no probability applies", "wrong data"},
       {{{of_path, "WRONG DATA", "Path with wrong data", "path", kWrong, &Of::fine, wrong_data, kPathNext},
         {of_any, "WRONG DATA", "", "host", kWrong, &Of::wrong_data, wrong_data, kHostNext}}}},
      {{kHost, "host"}, {{{of_any, "SLOW HOST", "", "host", "slow", &Of::slow, slow_host, kHostNext}}}},
      {{kNic, "nic", kCountsRails},
       {{{no_figure, "DEAD NIC", "", "NIC", "dead", &Of::slow, nic, kHostNext},
         {of_any, "SLOW NIC", "", "NIC", "slow", &Of::slow, nic, kHostNext}}}},
      {{kTransient, "transient", kComesAndGoes},
       {{{of_path, "UNSTEADY", "Unsteady path", "path", "unsteady", &Of::fine, unsteady_path, kPathNext},
         {of_any, "UNSTEADY", "", "host", "unsteady", &Of::unsteady, unsteady_host, kHostNext}}}},
      {{kLeaf, "leaf", kStandsAlone},
       {{{of_found_groups, "SLOW GROUP", "Slow group", "group", kFar, &Of::fine, leaf, kSwitches},
         {of_any, "SLOW LEAF", "Slow leaf", "leaf", kFar, &Of::fine, leaf, kSwitches}}}},
      {{kLeafPair, "leaf_pair", kStandsAlone},
       {{{of_found_groups, "SLOW SPINE", kLeaves, "group-to-group path", "slow", &Of::fine, leaf_pair, kSwitches},
         {of_any, "SLOW SPINE", kLeaves, "leaf-to-leaf path", "slow", &Of::fine, leaf_pair, kSwitches}}}},
      {{kRail, "rail", kCountsRails},
       {{{no_figure, "DEAD RAIL", "Dead rail", "rail", "dead", &Of::fine, rail, kSwitches},
         {of_any, "SLOW RAIL", "Slow rail", "rail", "slow", &Of::fine, rail, kSwitches}}}},
      {{kDevice, "device", kOverDevices | kStandsAlone},
       {{{of_nic, "SLOW NIC", "Slow NIC", "NIC", "slow", &Of::fine, device, kDevices},
         {of_gpu, "SLOW GPU", "Slow GPU", "GPU", "slow", &Of::fine, device, kDevices},
         {of_switch_port, "SLOW PORT", "Slow switch port", "switch port", "slow", &Of::fine, device, kDevices},
         {of_any, "SLOW DEVICE", "Slow device", "device", "slow", &Of::fine, device, kDevices}}}},
      {{kPair, "pair"}, {{{of_any, "SLOW PATH", "Slow path", "path", "slow", &Of::fine, path, kPathNext}}}},
      {{kDeadPair, "dead_pair"},
       {{{of_any, "DEAD PATH", "Dead path", "path", "dead", &Of::fine, dead_path, kPairAgain | kPing}}}},
      {{kUndecided, "undecided", kOpen}, {{{of_any, "CANNOT TELL", "", "", "", &Of::suspect, undecided, kSweepAgain}}}},
  });
}();

[[nodiscard]] constexpr const FindingKind& kind_of(Blame blame) {
  return *std::ranges::find(kFindingKinds, blame, &FindingKind::blame);
}

/// Their names in JSON.
constexpr auto names_of(Blame) {
  std::array<std::string_view, kFindingKinds.size()> names;
  for (const FindingKind& kind : kFindingKinds) names.at(static_cast<std::size_t>(kind.blame)) = kind.name;
  return names;
}
static_assert(kFindingKinds.size() == static_cast<std::size_t>(Blame::kUndecided) + 1 &&
                  std::ranges::none_of(names_of(Blame()), &std::string_view::empty),
              "each kind has one entry");

}  // namespace fabricbench::cluster
