#pragma once

namespace fabricbench {

/// Whether the launcher has a terminal as its own `descriptor`. False if the launcher is not this process's parent.
[[nodiscard]] bool launcher_has_terminal(int descriptor);

/// Whether standard output may have colours: it is a terminal, and NO_COLOR (https://no-color.org) is not set. Open
/// MPI's launcher gives every process a terminal even if its own output goes to a file. So if the process was
/// `launched`, its parent's standard output must be a terminal too. If the launcher is not its parent, that is unknown,
/// and there are no colours.
[[nodiscard]] bool wants_colour(bool launched);

}  // namespace fabricbench
