#include "common/core/statistics.h"

#include <gtest/gtest.h>

namespace fabricbench {
namespace {

// Values from the tables of NIST/SEMATECH, e-Handbook of Statistical Methods, 1.3.6.7.2.
TEST(NormalQuantile, IsTheInverseOfTheTail) {
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-12);
  EXPECT_NEAR(normal_quantile(0.025), 1.959963985, 1e-8);
  EXPECT_NEAR(normal_quantile(0.975), -1.959963985, 1e-8);
  EXPECT_NEAR(normal_quantile(1e-9), 5.997807015, 1e-8);
}

TEST(Distributions, StudentsQuantilesAreThoseOfTables) {
  EXPECT_NEAR(student_quantile(0.025, 1), 12.706, 5e-4);
  EXPECT_NEAR(student_quantile(0.05, 2), 2.920, 5e-4);
  EXPECT_NEAR(student_quantile(0.001, 3), 10.215, 5e-4);
  EXPECT_NEAR(student_quantile(0.025, 10), 2.228, 5e-4);
  EXPECT_NEAR(student_quantile(0.005, 100), 2.626, 5e-4);
  EXPECT_NEAR(student_quantile(0.025, 1e6), 1.960, 5e-4);
}

TEST(Distributions, StudentsTailInvertsItsQuantile) {
  for (const double degrees : {1.0, 2.0, 3.0, 7.5, 200.0}) {
    for (const double tail : {1e-6, 0.01, 0.3, 0.5, 0.9}) {
      EXPECT_NEAR(student_tail(student_quantile(tail, degrees), degrees), tail, tail * 1e-9) << degrees;
    }
  }
}

TEST(Distributions, StudentsTailOfOneDegreeIsCauchys) {
  constexpr double kPi = 3.14159265358979323846;
  for (const double t : {-30.0, -1.0, 0.0, 0.2, 5.0, 1000.0}) {
    EXPECT_NEAR(student_tail(t, 1), 0.5 - std::atan(t) / kPi, 1e-12) << t;
  }
}

TEST(Distributions, BinomialTailsAreSumsOfTerms) {
  EXPECT_DOUBLE_EQ(binomial_tail(3, 0.5, 2), 0.5);
  EXPECT_NEAR(binomial_tail(3, 0.1, 2), 3 * 0.01 * 0.9 + 0.001, 1e-15);
  EXPECT_EQ(binomial_tail(5, 0.3, 0), 1);
  EXPECT_EQ(binomial_tail(5, 0.3, 6), 0);
}

TEST(Distributions, TheHitsProbabilityInvertsTheTail) {
  EXPECT_NEAR(binomial_hit(1, 1, 0.02), 0.02, 1e-12);
  EXPECT_NEAR(binomial_tail(5, binomial_hit(5, 3, 0.001), 3), 0.001, 1e-12);
}

}  // namespace
}  // namespace fabricbench
