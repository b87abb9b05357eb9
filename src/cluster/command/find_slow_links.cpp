#include "cluster/command/commands.h"

#include "cluster/command/command_options.h"

int main(int argc, char** argv) {
  return fabricbench::cluster::run_tool("find_slow_links",
                                        [&] { return fabricbench::cluster::find_slow_links(argc, argv); });
}
