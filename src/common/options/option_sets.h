// Options shared by several kinds of programs.
#pragma once

#include "common/options/option.h"

namespace fabricbench::option_sets {

[[nodiscard]] OptionSet sizes();    ///< -b -e -i -f
[[nodiscard]] OptionSet data();     ///< -d -o -r
[[nodiscard]] OptionSet traffic();  ///< alltoallv only
[[nodiscard]] OptionSet repeats();  ///< -n -w
/// --epochs --time-budget; `budgeted`: what a time budget is for.
[[nodiscard]] OptionSet epochs(std::string_view budgeted);
[[nodiscard]] OptionSet precision();        ///< --target-precision --order -N
[[nodiscard]] OptionSet seed();             ///< --seed
[[nodiscard]] OptionSet timeout();          ///< -T
[[nodiscard]] OptionSet operation_times();  ///< operations of all ranks: -m --timing -a -z -C
[[nodiscard]] OptionSet checks();           ///< -c
[[nodiscard]] OptionSet checks_or_all();
[[nodiscard]] OptionSet checks_or_each();  ///< -c, which may be `all`
[[nodiscard]] OptionSet repeatability();   ///< --repeatable
[[nodiscard]] OptionSet buffers();         ///< --buffers -u
[[nodiscard]] OptionSet placement();       ///< --placement
[[nodiscard]] OptionSet library();         ///< --backend --memory
/// --device; `what`: whose number it is.
[[nodiscard]] OptionSet device(std::string_view what = "each process's first GPU");
[[nodiscard]] OptionSet split();                                                              ///< --split
[[nodiscard]] OptionSet pairs(std::string_view otherwise = "one rank on each of two hosts");  ///< --pairs
[[nodiscard]] OptionSet concurrent();                                                         ///< --concurrent
[[nodiscard]] OptionSet window();                                                             ///< --window
[[nodiscard]] OptionSet sockets();                                                            ///< --streams --interface
[[nodiscard]] OptionSet sweep();                                                              ///< sweeps over pairs
[[nodiscard]] OptionSet one_sided();                                                          ///< puts of NCCL
[[nodiscard]] OptionSet of_preflight();                                                       ///< hosts, before a run
[[nodiscard]] OptionSet gpus_of_process();                                                    ///< -g
[[nodiscard]] OptionSet nccl();                                                               ///< NCCL only
[[nodiscard]] OptionSet json_file();                                                          ///< --json --force
[[nodiscard]] OptionSet baselines();                                                          ///< --record --baseline
/// Both.
[[nodiscard]] inline OptionSet json() { return join({json_file(), baselines()}); }
[[nodiscard]] OptionSet expectation();      ///< --expect --line-rate
[[nodiscard]] OptionSet preset();           ///< --preset --strict
[[nodiscard]] OptionSet csv();              ///< --csv
[[nodiscard]] OptionSet nccl_tests_json();  ///< -J
[[nodiscard]] OptionSet of_rows();          ///< --samples --stats -S
[[nodiscard]] OptionSet quiet();            ///< --quiet
[[nodiscard]] OptionSet progress();         ///< --progress
[[nodiscard]] OptionSet quick();
[[nodiscard]] OptionSet least_bandwidth();      ///< --min-bw, of pairs
[[nodiscard]] OptionSet least_reading();        ///< --min-bw, of sweeps over pairs
[[nodiscard]] OptionSet least_average_busbw();  ///< --min-bw, of collectives

}  // namespace fabricbench::option_sets
