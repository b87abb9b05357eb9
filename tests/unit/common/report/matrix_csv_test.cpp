#include "common/report/file_sinks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sweep_test_support.h"

using namespace fabricbench;
using test::sweep_context;

namespace matrix_csv_test {

using Matrix = test::Written<MatrixCsvSink>;

constexpr float kNotTaken = NAN;

TEST(MatrixCsv, HasALineAReceiverAndAColumnASender) {
  Matrix file;
  file->begin(sweep_context(3));
  file->record(MatrixRow{0, {kNotTaken, 12.5e9F, 0}});
  file->record(MatrixRow{1, {11.25e9F, kNotTaken, kNotTaken}});
  file->record(MatrixRow{2, {0.123456789e9F, 0.5e9F, kNotTaken}});
  file->end({});
  EXPECT_EQ(file.text(),
            "receiver,node-00,node-01,node-02\n"
            "node-00,,12.5,0\n"
            "node-01,11.25,,\n"
            "node-02,0.123457,0.5,\n");
}

TEST(MatrixCsv, IsThereToReadAfterEachLine) {
  Matrix file;
  file->begin(sweep_context(2));
  EXPECT_EQ(file.text(), "receiver,node-00,node-01\n");
  file->record(MatrixRow{0, {kNotTaken, 12e9F}});
  EXPECT_EQ(file.text(), "receiver,node-00,node-01\nnode-00,,12\n");
}

TEST(MatrixCsv, NamesTheRanksOfAHostThatHasSeveral) {
  Matrix file;
  Context context = sweep_context(2, 2);
  context.ranks.push_back({4, 0, 300, "single", "some processor", "0-7", 0, 4, {}});
  file->begin(context);
  EXPECT_EQ(file.text(), "receiver,node-00:r0,node-00:r1,node-01:r2,node-01:r3,single\n");
}

TEST(MatrixCsv, QuotesNamesThatNeedIt) {
  Matrix file;
  Context context = sweep_context(2);
  context.ranks[0].host = "a,\"b\"";
  file->begin(context);
  file->record(MatrixRow{0, {kNotTaken, 1e9F}});
  EXPECT_EQ(file.text(), "receiver,\"a,\"\"b\"\"\",node-01\n\"a,\"\"b\"\"\",,1\n");
}

}  // namespace matrix_csv_test
