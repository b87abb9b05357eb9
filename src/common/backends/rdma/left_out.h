// Devices that a run does without, and how the banner tells of them.
#pragma once

#include <string>
#include <vector>

#include "common/record/field.h"

namespace fabricbench {

/// A device of a host that no rank uses, and why: `port 1 is DOWN`.
struct LeftOutDevice {
  std::string host;
  std::string device;
  std::string reason;
};

template <typename Form, record::Of<LeftOutDevice> Message>
void describe(Form& form, Message& left_out) {
  form.hidden(left_out.host, left_out.device, left_out.reason);
}

/// A line for each device and reason, with the hosts where it is so: `Left out: mlx5_3 of host b, because port 1 is
/// DOWN`; at most a screenful. A device that several ranks of a host report counts once.
[[nodiscard]] std::vector<std::string> left_out_notices(const std::vector<LeftOutDevice>& devices);

}  // namespace fabricbench
