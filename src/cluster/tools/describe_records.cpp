// Writes what the documentation says of records from their descriptions: the schema, and the tables of a page.

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "cluster/tools/record_types.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: describe_records SCHEMA PAGE\n");
    return 2;
  }
  try {
    const auto types = fabricbench::cluster::record_types();
    std::ifstream file(argv[2]);
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    std::ofstream(argv[1]) << fabricbench::record::schema_text(types);
    std::ofstream(argv[2]) << fabricbench::cluster::with_tables(page, types);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "describe_records: {}\n", problem.what());
    return 1;
  }
  return 0;
}
