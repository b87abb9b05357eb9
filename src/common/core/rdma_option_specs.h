#pragma once

#include <vector>

#include "common/core/options.h"

namespace fabricbench {

/// The options of programs over RDMA verbs alone; option_specs() has them too.
[[nodiscard]] std::vector<OptionSpec> rdma_option_specs();

/// What holds in such a program where the command line says nothing.
[[nodiscard]] Options default_rdma_options(const ProgramFacts& program);

/// Keeps sizes that nobody asked for within what datagrams can carry.
void complete_rdma_options(Options& options);

/// Refuses combinations that no single option shows to be wrong. Throws UsageError.
void check_rdma_combinations(const ProgramFacts& program, const Options& options);

/// The same of connections over rdma_cm.
void check_connections(const Options& options);

}  // namespace fabricbench
