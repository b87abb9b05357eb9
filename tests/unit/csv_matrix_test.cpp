// Matrices of bandwidths with hosts as titles, as spreadsheets have them.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/core/error.h"
#include "import_support.h"

using namespace fabricbench;
using namespace fabricbench::cluster;
using namespace fabricbench::cluster::test;

namespace csv_matrix_test {

using Texts = std::vector<std::string>;

Imported matrix(const std::string& text, double unit = 0) { return read_as(ImportKind::kCsv, "m.csv", text, unit); }

TEST(CsvMatrix, HasSendersInItsRows) {
  const Texts expected = {"a > b csv -1 = 1", "a > c csv -1 = 2", "b > a csv -1 = 3",
                          "b > c csv -1 = 4", "c > a csv -1 = 5", "c > b csv -1 = 6"};
  const std::string rows = "a,-,1,2\nb,3,-,4\nc,5,6,-\n";
  const Imported found = matrix(",a,b,c\n" + rows, 1e9);
  EXPECT_EQ(told(found), expected);
  EXPECT_EQ(noted(found), (Texts{"1: its rows are taken for senders; write from or to into the first field to say what "
                                 "they are"}));
  for (const std::string corner : {"from (GB/s)", "from\\to (GB/s)", "Sender (GB/s)", "src/dst[GB/s]"}) {
    EXPECT_EQ(told(matrix(corner + ",a,b,c\n" + rows)), expected) << corner;
    EXPECT_EQ(noted(matrix(corner + ",a,b,c\n" + rows)), Texts{}) << corner;
  }
  EXPECT_EQ(told(matrix("GB/s;c;a;b;\n\nb;4;3;;\na;2;;1;\nc;x;5;6;\n")).size(), 6U);
  EXPECT_EQ(told(matrix(with_carriage_returns("from (GB/s)\ta\tb\tc\na\t-\t1\t2\n"))),
            (Texts{"a > b csv -1 = 1", "a > c csv -1 = 2"}));
}

TEST(CsvMatrix, MayHaveReceiversInItsRows) {
  for (const std::string corner : {"receiver", "to\\from", "dst"}) {
    EXPECT_EQ(told(matrix(corner + ",a,b\na,,1\nb,2,\n", 1e9)), (Texts{"a > b csv -1 = 2", "b > a csv -1 = 1"}));
  }
}

TEST(CsvMatrix, IsOfBothDirectionsWhereItIsSymmetric) {
  const Imported found = matrix(",a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n", 1e9);
  EXPECT_EQ(told(found), (Texts{"a > b csv -1 = 1 both", "a > c csv -1 = 2 both", "b > c csv -1 = 3 both"}));
  EXPECT_EQ(noted(found), Texts{});
}

TEST(CsvMatrix, FailsWithWordsOnly) {
  const Imported found = matrix("from,a,b,c\na,,timeout,\nb,n/a,,fast\nc,1,0,\n", 1e9);
  EXPECT_EQ(told(found), (Texts{"a > b csv -1 = failed: timeout", "c > a csv -1 = 1"}));
  EXPECT_EQ(noted(found), (Texts{"3: 'fast' is not a figure, and is left out"}));
}

TEST(CsvMatrix, RefusesWhatIsNotClear) {
  EXPECT_THROW(static_cast<void>(matrix(",a,b\na,,1\nb,2,\n")), UsageError);
  EXPECT_EQ(noted(matrix("from,a,b\na,,1\nd,2,\nb,2\n", 1e9)),
            (Texts{"3: 'd,2,' is no row of the matrix, and is left out",
                   "4: 'b,2' is no row of the matrix, and is left out"}));
  for (const std::string text :
       {",a,b\n", ",a,b\nd,1,2\n", ",1,2\n1,0,1\n", ",a,a\na,1,2\n", "a,b\na,1\n", "", "a\n"}) {
    EXPECT_EQ(recognise(text), std::nullopt) << text;
  }
  EXPECT_EQ(recognise("# heat map\n\n,a,b\na,,1\n"), ImportKind::kCsv);
}

}  // namespace csv_matrix_test
