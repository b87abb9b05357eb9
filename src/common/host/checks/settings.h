// What libraries are told by variables and files, with the origin of each value, and the lists of names in them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/host/checks/check.h"

namespace fabricbench::host {

struct Setting {
  std::string value;
  std::string origin;  ///< `the environment`, or a file
};

/// By the name of the variable that sets it.
using Settings = std::map<std::string, Setting>;

/// Variables whose names begin so. Throws NotSeen.
[[nodiscard]] Settings environment_settings(Look& look, std::string_view beginning);

/// The environment comes first, then NCCL_CONF_FILE or else ~/.nccl.conf, then /etc/nccl.conf. Source: NCCL's
/// src/misc/param.cc. Throws NotSeen.
[[nodiscard]] Settings nccl_settings(Look& look);

/// The files that NCCL reads, the first one wins. Throws NotSeen.
[[nodiscard]] std::vector<std::string> nccl_files(Look& look);

/// The environment, then ucx.conf in $UCX_CONFIG_DIR, in $HOME, and in /etc/ucx. Source: UCX's src/ucs/config/parser.c.
/// Throws NotSeen.
[[nodiscard]] Settings ucx_settings(Look& look);

/// The environment (OMPI_MCA_...), then ~/.openmpi/mca-params.conf, then that of the installation. Source: Open MPI's
/// FAQ on MCA parameters. Throws NotSeen.
[[nodiscard]] Settings mpi_settings(Look& look);

[[nodiscard]] std::optional<Setting> find_setting(const Settings& settings, const std::string& name);
/// Of those of NCCL. Throws NotSeen.
[[nodiscard]] std::optional<Setting> find_nccl_setting(Look& look, const std::string& name);

/// `mlx5_0:1` of a list.
struct ListedName {
  std::string name;
  std::string port{};  ///< empty: any
};

/// A list as NCCL reads it: `^` excludes, `=` wants whole names, else they are beginnings. Source: NCCL's
/// src/misc/utils.cc.
struct NameList {
  bool excludes = false;
  bool is_exact = false;
  std::vector<ListedName> names{};

  [[nodiscard]] static NameList of(std::string_view text);
  [[nodiscard]] bool matches(const ListedName& listed, const std::string& name) const;
  [[nodiscard]] bool selects(const std::string& name) const;
};

}  // namespace fabricbench::host
