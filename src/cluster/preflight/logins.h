// Whether MPI can start at all: what mpirun needs of ssh, on each host and from host to host. Needs no MPI itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/host/checks/checks.h"

namespace fabricbench::cluster {

/// A command on another host, and what came of it.
struct Login {
  int status = 0;      ///< of ssh; 255: no login; kTimedOut: it took too long
  double seconds = 0;  ///< from its start to its end
  std::string text;    ///< what it printed, line by line `KEY VALUE`
  std::string errors;  ///< what ssh said
};

/// What is asked of each host.
struct LoginQuestions {
  std::string program;             ///< path of a program of the suite, which has to be there as well
  std::vector<std::string> peers;  ///< hosts to which that host has to log in, too
};

/// The hosts to which a host logs in: mpirun starts its daemons along a tree, whose edges differ from run to run, so
/// each host tries two others.
[[nodiscard]] std::vector<std::string> peers_of(const std::vector<std::string>& hosts, std::size_t host);

/// The script for sh on that host, which reads only and ends within some seconds for each peer.
[[nodiscard]] std::string login_script(const LoginQuestions& questions);

/// The words of ssh that run it there: without a terminal, and without asking for a password or a key.
[[nodiscard]] std::vector<std::string> login_command(const std::string& host, const LoginQuestions& questions);

/// The checks whose results `judge_login` has: for Overview.
[[nodiscard]] const std::vector<host::Check>& login_checks();

/// What a login tells of its host.
[[nodiscard]] host::HostReport judge_login(const std::string& host, const Login& login);

}  // namespace fabricbench::cluster
