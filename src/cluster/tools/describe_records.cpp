// Writes the files that follow from the programs' sources: the schema of records, the tables of a page, and the
// constants and types of records that the scripts share with the programs.

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "cluster/tools/record_types.h"
#include "cluster/tools/script_constants.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: describe_records SCHEMA PAGE SCRIPTS_FOLDER\n");
    return 2;
  }
  try {
    const auto types = fabricbench::cluster::record_types();
    std::ifstream file(argv[2]);
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    std::ofstream(argv[1]) << fabricbench::record::schema_text(types);
    std::ofstream(argv[2]) << fabricbench::cluster::with_tables(page, types);
    const std::string constants = fmt::format("{}/constants", argv[3]);
    std::ofstream(constants + ".sh") << fabricbench::cluster::constants_for_bash();
    std::ofstream(constants + ".py") << fabricbench::cluster::constants_for_python();
    std::ofstream(fmt::format("{}/record_types.py", argv[3])) << fabricbench::cluster::types_for_python(types);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "describe_records: {}\n", problem.what());
    return 1;
  }
  return 0;
}
