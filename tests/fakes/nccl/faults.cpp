#include "faults.h"

#include <cstdlib>
#include <sstream>

namespace fake_nccl {

Fault fault_of_environment() {
  const char* text = std::getenv("FAKE_NCCL_FAULT");
  Fault fault;
  if (text == nullptr) return fault;
  std::istringstream words{text};
  std::string number;
  std::getline(words, fault.kind, ':');
  if (std::getline(words, number, ':')) fault.rank = std::stoi(number);
  if (std::getline(words, number, ':')) fault.operation = std::stoll(number);
  return fault;
}

}  // namespace fake_nccl
