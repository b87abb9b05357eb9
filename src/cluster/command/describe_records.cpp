// Writes the files that follow from the programs' sources: the schema of records, and the tables of three pages.

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "cluster/command/generated_files.h"

namespace {

std::string text_of(const char* name) {
  std::ifstream file(name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: describe_records SCHEMA PAGE OPTIONS_PAGE CHECKS_PAGE\n");
    return 2;
  }
  try {
    const auto types = fabricbench::cluster::record_types();
    const std::string page = text_of(argv[2]);
    const std::string options_page = text_of(argv[3]);
    const std::string checks_page = text_of(argv[4]);
    std::ofstream(argv[1]) << fabricbench::record::schema_text(types);
    std::ofstream(argv[2]) << fabricbench::cluster::with_tables(page, types);
    std::ofstream(argv[3]) << fabricbench::cluster::with_tables_of_other_tools(options_page);
    std::ofstream(argv[4]) << fabricbench::cluster::with_checks(checks_page);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "describe_records: {}\n", problem.what());
    return 1;
  }
  return 0;
}
