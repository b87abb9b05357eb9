#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/acceptance/accept_options.h"
#include "cluster/acceptance/hosts_alone.h"

namespace fabricbench::acceptance {
namespace {

constexpr std::string_view kBefore = R"(usage: scripts/accept.sh [OPTION]...
       scripts/accept.sh --resume FOLDER [OPTION]...
       scripts/accept.sh --recheck HOSTS FOLDER [OPTION]...

Says which hosts may work: measures each host alone, then pairs of hosts, then
collectives over 2, 4, ... all hosts. Hosts with a finding are left out of what
follows. See docs/accept.md.
  scripts/accept.sh -H node[01-64] --baseline results/site.jsonl
      every host, every stage, compared with what a healthy system does
  scripts/accept.sh -H node[01-64] --time 20m
      what can be measured in 20 minutes; says what was not
  scripts/accept.sh --recheck node07 results/accept-20260101-120000
      after a repair: only what can clear node07

Hosts (default: those of the surrounding Slurm, PBS, LSF or Kubernetes MPI job):
  -H, --hosts LIST    use these hosts, such as node[01-16,20],login1
  --hostfile FILE     read hosts from FILE, in the format of an MPI launcher or
                      scheduler; - is standard input
  --exclude LIST      leave these hosts out
  --locality FILE     read each host's leaf switch or rack from lines HOST LEAF

What figures are compared with (default: hosts with each other):
  --baseline FILE     launches recorded with --record; slower is status 6
  --preset NAME       published figures of such a system; --strict makes them
                      binding
  --expect PERCENT    this share of what network adapters and NVLinks allow
  --line-rate GBIT/S  rate of a host's network for --expect, where the system
                      does not know it
  --record FILE       add the run to the baseline in FILE instead of judging its
                      collectives
)";

constexpr std::string_view kBehind = R"(  --tolerance X       smallest deficit that counts as slow where hosts are
                      compared (default: 0.05)

What to measure:
  --programs-to-run LIST
                      collectives (default: all_reduce_perf); the first also
                      runs on each host alone
  -b SIZE, -e SIZE, -f N
                      first and last size, and factor (default: 1K, 64M, 16;
                      with GPUs 1M, 1G, 32)
  --ranks N           ranks of each host (default: its GPUs as listed by
                      nvidia-smi here, else 1)
  --collective-options WORDS
                      more options of the collectives, such as '-n 20'
  --alone-options WORDS
                      the same for hosts alone (default: those of
                      --collective-options)
  --test NAME, --size SIZE, --rails LIST, --rounds K, --max-concurrent M,
  --resident
                      for the pairs, see scripts/sweep_pairs.sh (default:
                      --resident with more than 16 hosts)
  --pair-options WORDS
                      more options of the pairs' benchmark
  --at-once N         hosts measured alone at the same time (default: 32)
  --time TIME         time for everything, such as 20m: a quarter for hosts
                      alone, 7/10 until pairs have to end
  --timeout SECONDS   time limit of a job on one or two hosts (default:
                      60); 10 times as long for collectives
  --keep-going        go on after a finding that no host explains, and measure
                      pairs with hosts that have findings, too

How: --launcher, --agent, --mpi-options, --programs, see
scripts/check_node_pair.sh

Results:
  --output FOLDER     new folder of all results (default: results/accept-DATE)
  --resume FOLDER     continue the run of FOLDER, with its options; those that
                      name programs, files and further options are to be given
                      again
  --recheck HOSTS FOLDER
                      measure these hosts again after a repair, as in the run of
                      FOLDER; its other results stay
  --prometheus FILE   write metrics for node_exporter's textfile collector
  --nagios            print one line, and exit with 0 OK, 1 warning, 2 critical,
                      3 unknown
  --dry-run           print the commands of the first steps instead of running
                      them
  --help              print this text

Exit status: 0 all hosts are accepted, 1 failed, 2 usage, 3 something needed is
missing, 6 something is slow or failed, 7 something could not be judged or was
not measured, 130 interrupted (everything measured so far is in FOLDER).
)";

/// The text of an option that begins at a column, in lines of up to 80 columns.
std::string in_columns(std::size_t column, const std::string& text) {
  const std::size_t width = 80 - column;
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.size() - begin <= width ? text.size() : text.rfind(' ', begin + width);
    lines += fmt::format("{:{}}{}\n", "", column, text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::string accept_help() {
  std::vector<std::string_view> keys;
  keys.reserve(kHostKeys.size());
  for (const HostKey& key : kHostKeys) keys.push_back(key.name);
  return fmt::format(
      "{}  --allow KEYS        compare although these differ: keys of baselines (hosts,\n"
      "                      library...), {}, and of hosts\n{}{}",
      kBefore, fmt::join(kRunKeys, ", "), in_columns(22, fmt::format("{}", fmt::join(keys, ", "))), kBehind);
}

}  // namespace fabricbench::acceptance
