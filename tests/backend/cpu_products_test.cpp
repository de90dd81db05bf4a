// Products of matrices that lie in awkward ways, run with AVX-512 and without it (CMakeLists.txt), as oneDNN has other kernels then; and
// what becomes of numbers that are too small.
#include "backend/cpu/cpu_device.hpp"
#include "backend/cpu/engine.hpp"
#include "backend/cpu/operators.hpp"
#include "tests/backend/arrays.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>

namespace sextant::cpu {
namespace {

Array as_array(std::vector<float>& v) { return {std::shared_ptr<void>(std::shared_ptr<void>(), v.data()), std::ssize(v), Element::real}; }

// c = 0.5 a b + 2 c, of m x k and k x n, each of which may lie transposed, with rows so many elements apart (0: side by side).
double error_of_product(std::int64_t m, std::int64_t n, std::int64_t k, bool a_lies_transposed, bool b_lies_transposed,
                        std::int64_t pitch_of_a = 0) {
    const auto matrix = [](std::vector<float>& v, std::int64_t rows, std::int64_t columns, bool lies_transposed, std::int64_t pitch) {
        if (!lies_transposed) return Matrix(as_array(v), rows, columns, pitch > 0 ? pitch : columns, 0);
        return Matrix(as_array(v), columns, rows, pitch > 0 ? pitch : rows, 0).transpose();
    };
    std::vector<float> a = made_reals(Made::input, {1}, (a_lies_transposed ? k : m) * std::max({pitch_of_a, m, k}));
    std::vector<float> b = made_reals(Made::input, {2}, k * n), c = made_reals(Made::input, {3}, m * n), expected = c;
    const Matrix first = matrix(a, m, k, a_lies_transposed, pitch_of_a), second = matrix(b, k, n, b_lies_transposed, 0);
    const auto at = [](const Matrix& x, std::int64_t r, std::int64_t i) { return x.transposed ? x.row<float>(i)[r] : x.row<float>(r)[i]; };
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t x = 0; x < k; ++x) sum += static_cast<double>(at(first, i, x)) * at(second, x, j);
            expected[static_cast<std::size_t>(i * n + j)] =
                static_cast<float>(0.5 * sum + 2 * expected[static_cast<std::size_t>(i * n + j)]);
        }
    Engine engine;
    engine.multiply(first, second, Matrix(as_array(c), m, n), 0.5F, 2);
    return relative_error(c, expected);
}

// Rows 2 KiB apart fall into a few sets of a core's caches, and are read in a way of their own.
TEST(CpuProducts, OfFewSinglePixelsAreThoseThatPredictionsTakeForProducts) {
    EXPECT_EQ(bundled_scenario("default").framework.products_of_pixels, most_pixels_of_a_product);
}

TEST(CpuProducts, OfTurnedMatricesWithRowsThatShareSetsOfACache) { EXPECT_LT(error_of_product(50, 30, 333, true, false, 512), 1e-5); }

// Products of few rows are made the other way round, or part by part; the last part is smaller.
TEST(CpuProducts, OfFewRowsWithWhatLiesTransposed) {
    EXPECT_LT(error_of_product(1, 700, 40, false, true), 1e-5);
    EXPECT_LT(error_of_product(27, 300, 200, false, true), 1e-5);
    EXPECT_LT(error_of_product(27, 300, 200, false, true, 256), 1e-5);
    EXPECT_LT(error_of_product(50, 700, 500, false, true), 1e-5);
}
TEST(CpuProducts, OfFewRowsWithMoreThanACacheHolds) {
    EXPECT_LT(error_of_product(9, 500, 300, false, false), 1e-5);
    EXPECT_LT(error_of_product(9, 500, 300, false, false, 512), 1e-5);
}
TEST(CpuProducts, OfSumsOfFewIntoMoreThanACacheHolds) {
    EXPECT_LT(error_of_product(300, 500, 20, true, false), 1e-5);
    EXPECT_LT(error_of_product(300, 500, 20, true, false, 512), 1e-5);
    EXPECT_LT(error_of_product(200, 1100, 70, true, false), 1e-5);
}

// In the thread that has made the device, and in one that this has started.
TEST(CpuDevice, TakesNumbersTooSmallToBeNormalForZero) {
    const auto half_of_the_least = [] {
        volatile float least = std::numeric_limits<float>::min();
        return least / 2;
    };
    const float before = half_of_the_least();  // tests before this one may have made a device in this thread
    std::jthread([&] {
        const CpuDevice device;
        EXPECT_EQ(half_of_the_least(), 0);
        std::jthread([&] { EXPECT_EQ(half_of_the_least(), 0); }).join();
    }).join();
    EXPECT_EQ(half_of_the_least(), before) << "elsewhere they are what they were";
}

}  // namespace
}  // namespace sextant::cpu
