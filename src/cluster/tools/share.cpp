#include "cluster/tools/share.h"

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/units.h"

namespace fabricbench::cluster {

double parse_share(std::string_view text, std::string_view what) {
  const bool percent = !text.empty() && text.back() == '%';
  double share = 0;
  try {
    share =
        percent ? parse_number(text.substr(0, text.size() - 1), what, 0, 100) / 100 : parse_number(text, what, 0, 1);
  } catch (const UsageError&) {
    share = 0;  // refused below, with the message for shares
  }
  if (!(share > 0 && share < 1)) {
    throw UsageError(fmt::format(
        "{} '{}' is not a share of more than nothing and less than all; write one such as 5% or 0.05", what, text));
  }
  return share;
}

std::string share_text(double share) { return fmt::format("{:g}%", 100 * share); }

}  // namespace fabricbench::cluster
