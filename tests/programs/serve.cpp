#include "serve.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <optional>
#include <stdexcept>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <mpi.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "scoped_variable.h"

namespace {

bool serving = false;

}  // namespace

// MPI can be started once in a process: here before the first program and until after the last one.
extern "C" int MPI_Init(int* argc, char*** argv) { return serving ? MPI_SUCCESS : PMPI_Init(argc, argv); }
extern "C" int MPI_Finalize() { return serving ? MPI_SUCCESS : PMPI_Finalize(); }

namespace fabricbench::test {
namespace {

int checked(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
  return result;
}

/// A file in the place of one of the process's own descriptors, as long as this lives.
class Redirection {
 public:
  Redirection(const std::string& file, int descriptor)
      : descriptor_(descriptor), kept_(checked(fcntl(descriptor, F_DUPFD_CLOEXEC, 3), "dup")) {
    const int opened = checked(open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600), file.c_str());
    checked(dup2(opened, descriptor_), "dup2");
    close(opened);
  }
  Redirection(const Redirection&) = delete;
  Redirection& operator=(const Redirection&) = delete;
  ~Redirection() {
    std::fflush(nullptr);
    dup2(kept_, descriptor_);
    close(kept_);
  }

 private:
  int descriptor_;
  int kept_;
};

/// A connected socket. The address is HOST:PORT by numbers, or the path of a socket on this host.
int connected(const std::string& address) {
  const auto connect_to = [&](const auto& to, int family) {
    const int made = checked(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    checked(connect(made, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), address.c_str());
    return made;
  };
  sockaddr_in far{};
  const std::size_t colon = address.find(':');
  if (inet_pton(AF_INET, address.substr(0, colon).c_str(), &far.sin_addr) == 1) {
    far.sin_family = AF_INET;
    far.sin_port = htons(static_cast<std::uint16_t>(std::stoul(address.substr(colon + 1))));
    return connect_to(far, AF_INET);
  }
  sockaddr_un near{};
  near.sun_family = AF_UNIX;
  if (address.size() >= sizeof(near.sun_path)) throw std::runtime_error(address + " is too long for a socket");
  address.copy(near.sun_path, address.size());
  return connect_to(near, AF_UNIX);
}

class Connection {
 public:
  explicit Connection(const std::string& address) : socket_(connected(address)) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(socket_); }

  void say(int number) const {
    const std::string line = std::to_string(number) + '\n';
    checked(static_cast<int>(send(socket_, line.data(), line.size(), MSG_NOSIGNAL)), "send");
  }

  /// The strings of a request; none where the connection was closed.
  [[nodiscard]] std::vector<std::string> request() const {
    std::string digits;
    for (char next = 0; receive(&next, 1) && next != '\n';) digits += next;
    if (digits.empty()) return {};
    std::string text(std::stoul(digits), '\0');
    if (!receive(text.data(), text.size())) return {};
    std::vector<std::string> strings;
    for (std::size_t begin = 0; begin < text.size(); begin += strings.back().size() + 1) {
      strings.emplace_back(text.c_str() + begin);
    }
    return strings;
  }

 private:
  [[nodiscard]] bool receive(char* into, std::size_t size) const {
    return recv(socket_, into, size, MSG_WAITALL) == static_cast<ssize_t>(size);
  }

  int socket_;
};

int run(const std::vector<std::string>& request, RunProgram run_program) {
  const Redirection out(request.at(0), STDOUT_FILENO);
  const Redirection err(request.at(1), STDERR_FILENO);
  const std::size_t first = 3 + std::stoul(request.at(2));
  std::deque<ScopedVariable> variables;  // NAME=VALUE, or NAME for one that is taken out
  for (std::size_t i = 3; i < first; ++i) {
    const std::string& text = request.at(i);
    const std::size_t name_end = text.find('=');
    variables.emplace_back(text.substr(0, name_end), name_end == std::string::npos
                                                         ? std::nullopt
                                                         : std::optional<std::string>(text.substr(name_end + 1)));
  }
  std::vector<std::string> arguments(request.begin() + static_cast<std::ptrdiff_t>(first), request.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int status = run_program(arguments.at(0), static_cast<int>(arguments.size()), argv.data());
  alarm(0);  // the limit of the process's end, which does not come yet
  return status;
}

}  // namespace

int serve(const std::string& address, RunProgram run_program) {
  PMPI_Init(nullptr, nullptr);
  serving = true;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {
    const Connection connection(address);
    connection.say(rank);
    for (auto request = connection.request(); !request.empty(); request = connection.request()) {
      connection.say(run(request, run_program));
    }
  }
  PMPI_Finalize();
  return 0;
}

}  // namespace fabricbench::test
