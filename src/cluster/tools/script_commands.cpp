#include "cluster/tools/commands.h"
#include "cluster/tools/scripts.h"

namespace fabricbench::cluster {

ExitStatus report_files(const std::vector<std::string>& arguments) {
  become_script("report.py", "fabricbench report", arguments);
}

ExitStatus plot_files(const std::vector<std::string>& arguments) {
  become_script("plot.py", "fabricbench plot", arguments);
}

ExitStatus examine_host(const std::vector<std::string>& arguments) {
  become_script("doctor.sh", "fabricbench doctor", arguments);
}

}  // namespace fabricbench::cluster
