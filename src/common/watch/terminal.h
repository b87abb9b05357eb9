#pragma once

namespace fabricbench {

/// Whether the launcher, where it is this process's parent, has a terminal as its own `descriptor`.
[[nodiscard]] bool launcher_has_terminal(int descriptor);

/// Whether standard output may have colours: it is a terminal, and NO_COLOR (https://no-color.org) is not set. Open
/// MPI's launcher gives every process a terminal of its own even where it writes to a file, so of a process that was
/// `launched` its parent's standard output must be a terminal too. Where the launcher is no parent of it, nobody knows,
/// and there are no colours.
[[nodiscard]] bool wants_colour(bool launched);

}  // namespace fabricbench
