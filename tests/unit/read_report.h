// A report as somebody reads it who knows the readings: its lines, its findings, and what is not true of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/hosts/host_list.h"
#include "recount.h"

namespace fabricbench::cluster {

using Way = About::Way;

inline const std::string kHostPattern = "(h\\d\\d)";
inline const std::string kWhom =
    "(all partners|\\d+ of \\d+ partners?|(?:all \\d+ partners|the 1 partner) that would show the fault, of \\d+)";
inline const std::string kKinds = "(?:, in (k\\d(?: and k\\d)*))?";
inline const std::string kOver = "(?: over rail (r\\d)(?: of h\\d\\d and rail (r\\d) of h\\d\\d)?)?";

/// A finding as it is printed: a tag, a sentence, and labelled lines.
struct Block {
  std::string tag;
  std::string sentence;
  std::vector<std::pair<std::string, std::string>> lines;

  [[nodiscard]] std::string line(const std::string& label) const {
    for (const auto& [known, text] : lines) {
      if (known == label) return text;
    }
    return "";
  }
};

class ReadReport {
 public:
  ReadReport(const Sweep& sweep, const Verdict& verdict, std::string text)
      : sweep_(sweep), verdict_(verdict), text_(std::move(text)), recount_(sweep, verdict, 0.05) {
    read();
  }

 protected:
  using Match = std::smatch;

  void read() {
    std::istringstream stream(text_);
    static const std::regex kTag("^([A-Z]+(?: [A-Z]+)?) +(.*)$");
    static const std::regex kLine("^    (how bad|reason|rests on|how sure|to settle|also|next|)  +(.*)$");
    bool within = false;
    for (std::string line; std::getline(stream, line);) {
      Match match;
      if (all_.empty()) headline_ = line;
      all_.push_back(line);
      if (std::regex_match(line, match, kTag) && match[1].str() != "T") {
        blocks_.push_back({match[1], match[2], {}});
        within = true;
      } else if (within && std::regex_match(line, match, kLine)) {
        std::string label = match[1];
        if (label.empty()) label = blocks_.back().lines.back().first;
        blocks_.back().lines.emplace_back(label, match[2]);
      } else {
        within = false;
      }
    }
  }

  void expect(bool holds, const std::string& what) {
    if (!holds) lies_.push_back(fmt::format("{} | {}", block_ == nullptr ? headline_ : block_->sentence, what));
  }

  [[nodiscard]] std::int32_t host(const std::string& name) const {
    return static_cast<std::int32_t>(std::find(sweep_.hosts.begin(), sweep_.hosts.end(), name) - sweep_.hosts.begin());
  }
  [[nodiscard]] std::int32_t rail(const std::string& name) const {
    if (name.empty()) return -1;
    return static_cast<std::int32_t>(std::find(sweep_.rails.begin(), sweep_.rails.end(), name) - sweep_.rails.begin());
  }
  static std::set<std::int32_t> kinds(const std::string& names) {
    std::set<std::int32_t> kinds;
    for (const char each : names) {
      if (each >= '0' && each <= '9') kinds.insert(each - '0');
    }
    return kinds;
  }
  static std::vector<std::int64_t> numbers(const std::string& text) {
    static const std::regex kNumber("\\d+");
    std::vector<std::int64_t> all;
    for (std::sregex_iterator it(text.begin(), text.end(), kNumber); it != std::sregex_iterator(); ++it) {
      all.push_back(std::stoll(it->str()));
    }
    return all;
  }
  static double share_in(const std::string& extent) {
    if (extent.find("no figure ") != std::string::npos) return 0;
    return std::stod(extent.substr(extent.rfind(": ") + 2));
  }
  [[nodiscard]] std::string list(const std::string& title) const {
    for (const std::string& line : all_) {
      if (line.starts_with(title + ": ")) return line.substr(title.size() + 2);
    }
    return "";
  }
  [[nodiscard]] std::set<std::string> hosts_in(const std::string& title) const {
    HostList hosts;
    hosts.add_list(list(title), title);
    const std::vector<std::string> names = hosts.names();
    return {names.begin(), names.end()};
  }
  /// Hosts of all findings, and of leaves that are blamed: readings with them say nothing of their partners.
  [[nodiscard]] std::set<std::int32_t> accused(std::int32_t but = -1, std::int32_t and_but = -1) const {
    std::set<std::int32_t> hosts;
    for (const Finding& finding : verdict_.findings) {
      for (const std::int32_t each : finding.hosts) hosts.insert(each);
      for (const std::int32_t leaf : {finding.leaf, finding.other_leaf}) {
        if (leaf < 0) continue;
        for (const std::int32_t each : verdict_.groupings[0].groups[static_cast<std::size_t>(leaf)].hosts) {
          hosts.insert(each);
        }
      }
    }
    for (const FollowUp& follow_up : verdict_.follow_ups) hosts.insert(follow_up.host);
    hosts.erase(but);
    hosts.erase(and_but);
    return hosts;
  }

  [[nodiscard]] std::set<std::int32_t> hosts_with(Blame blame, bool dead_nic = false) const {
    std::set<std::int32_t> hosts;
    for (const Finding& finding : verdict_.findings) {
      const bool dead = finding.failed == finding.readings;
      if (finding.blame == blame && finding.hosts.size() == 1 && (blame != Blame::kNic || dead == dead_nic)) {
        hosts.insert(finding.hosts[0]);
      }
    }
    return hosts;
  }
  [[nodiscard]] std::size_t paths_with(Blame blame) const {
    std::set<std::set<std::int32_t>> paths;
    for (const Finding& finding : verdict_.findings) {
      if (finding.blame == blame && finding.hosts.size() == 2) paths.insert({finding.hosts[0], finding.hosts[1]});
    }
    return paths.size();
  }

  const Sweep& sweep_;
  const Verdict& verdict_;
  std::string text_;
  Recount recount_;
  std::string headline_;
  std::vector<std::string> all_;
  std::vector<Block> blocks_;
  const Block* block_ = nullptr;
  std::vector<std::string> lies_;
};

}  // namespace fabricbench::cluster
