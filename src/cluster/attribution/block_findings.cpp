// Findings on blocks: leaves, paths between leaves, and rails.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "cluster/attribution/findings.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

Finding from_block(Blame blame, const BlockScore& score, double expected) {
  Finding finding;
  finding.blame = blame;
  finding.ratio = std::exp(score.median);
  finding.expected = expected;
  finding.rate = expected * finding.ratio;
  finding.readings = score.readings;
  finding.partners = score.hosts;
  finding.false_alarm = score.false_alarm;
  return finding;
}

/// The centre of healthy readings between leaves.
double centre_between_leaves(const Model& model, std::int32_t kind) {
  double centre = 0;
  std::int64_t most = 0;
  for (const Stratum& stratum : model.strata) {
    if (stratum.kind != kind || stratum.distance == 0 || stratum.readings < most) continue;
    centre = stratum.centre;
    most = stratum.readings;
  }
  return centre;
}

/// How many of a leaf's hosts are slow with hosts of other leaves, in the row's role.
PartnerCount slow_hosts_of(const Model& model, const LeafRow& row) {
  std::map<std::int32_t, std::vector<float>> residuals;  // by host
  for (const Point& point : model.points) {
    if (!point.crosses || model.is_left_out(point) || model.reading_of(point).kind != row.kind) continue;
    for (const std::int32_t effect : {point.sender, point.receiver}) {
      const std::int32_t host = model.ids.host(effect);
      if (EffectIds::role(effect) != row.role || model.part_of(host) != row.leaf) continue;
      residuals[host].push_back(point.residual);
    }
  }
  PartnerCount hosts;
  for (std::size_t host = 0; host < model.sweep->hosts.size(); ++host) {
    hosts.met += model.part_of(static_cast<std::int32_t>(host)) == row.leaf ? 1 : 0;
  }
  hosts.shown = static_cast<std::int64_t>(residuals.size());
  for (auto& [host, own] : residuals) hosts.slow += median_of(own) < model.slow ? 1 : 0;
  return hosts;
}

/// Whether there are readings between the leaves, or within the leaf, that `wanted` takes, and they are fine.
template <typename Wanted>
bool are_fine(const Model& model, const Wanted& wanted) {
  std::vector<float> residuals;
  for (const Point& point : model.points) {
    const std::int32_t from = model.part_of(model.ids.host(point.sender));
    const std::int32_t to = model.part_of(model.ids.host(point.receiver));
    if (from != Nearness::kNone && to != Nearness::kNone && wanted(from, to)) residuals.push_back(point.residual);
  }
  return !residuals.empty() && median_of(residuals) >= model.slow;
}

void add_hosts(const LeafRow& row, const PartnerCount& hosts, Finding& finding) {
  if (row.role != Role::kReceiver) finding.sends = hosts;
  if (row.role != Role::kSender) finding.receives = hosts;
  finding.both_ways = finding.both_ways || row.role == Role::kEither;
  finding.partners = std::max(finding.partners, hosts.shown);
}

/// Adds a slow leaf, unless none of its hosts is slow.
void add_row(const Model& model, const LeafRow& row, std::vector<Finding>& findings) {
  const PartnerCount hosts = slow_hosts_of(model, row);
  if (hosts.slow == 0) return;
  const Direction direction = direction_of(row.role != Role::kReceiver, row.role != Role::kSender);
  for (Finding& known : findings) {
    if (known.blame != Blame::kLeaf || known.leaf != row.leaf) continue;
    if (known.direction != direction) known.direction = Direction::kBoth;
    known.readings += row.score.readings;
    known.false_alarm = std::min(known.false_alarm, row.score.false_alarm);
    add_hosts(row, hosts, known);
    return;
  }
  Finding finding = from_block(Blame::kLeaf, row.score, centre_between_leaves(model, row.kind));
  finding.partners = 0;
  finding.leaf = row.leaf;
  finding.direction = direction;
  finding.fine_elsewhere =
      are_fine(model, [&](std::int32_t from, std::int32_t to) { return from == row.leaf && to == row.leaf; });
  add_hosts(row, hosts, finding);
  findings.push_back(finding);
}

void add_path(const Model& model, const LeafPath& path, std::vector<Finding>& findings) {
  for (Finding& known : findings) {
    if (known.blame != Blame::kLeafPair) continue;
    const bool same = known.leaf == path.from && known.other_leaf == path.to;
    const bool back = known.leaf == path.to && known.other_leaf == path.from;
    if (!same && !back) continue;
    if (back) known.direction = Direction::kBoth;
    known.readings += path.score.readings;
    known.partners = std::min(known.partners, path.score.hosts);
    known.false_alarm = std::min(known.false_alarm, path.score.false_alarm);
    return;
  }
  Finding finding = from_block(Blame::kLeafPair, path.score, centre_between_leaves(model, path.kind));
  finding.leaf = path.from;
  finding.other_leaf = path.to;
  finding.direction = path.either ? Direction::kBoth : Direction::kSends;
  finding.both_ways = path.either;
  const auto fine_with_others = [&](std::int32_t leaf, std::int32_t counterpart) {
    return are_fine(model, [&](std::int32_t from, std::int32_t to) {
      return (from == leaf && to != leaf && to != counterpart) || (to == leaf && from != leaf && from != counterpart);
    });
  };
  finding.fine_elsewhere = fine_with_others(path.from, path.to) && fine_with_others(path.to, path.from);
  findings.push_back(finding);
}

}  // namespace

void report_blocks(const Model& model, const Blocks& blocks, Verdict& verdict) {
  for (const LeafRow& row : blocks.rows) add_row(model, row, verdict.findings);
  for (const LeafPath& path : blocks.paths) add_path(model, path, verdict.findings);
}

void report_rails(const std::vector<SlowRail>& rails, Verdict& verdict) {
  for (const SlowRail& rail : rails) {
    verdict.findings.push_back(from_block(Blame::kRail, rail.score, rail.expected));
    verdict.findings.back().rail = rail.rail;
    verdict.findings.back().sends = {rail.score.hosts, rail.score.hosts, rail.slow_hosts};
  }
}

}  // namespace fabricbench::cluster
