// Products of matrices that lie in awkward ways, run with AVX-512 and without it (CMakeLists.txt), as oneDNN has other kernels then; and
// what becomes of numbers that are too small.
#include "backend/cpu/cpu_device.hpp"
#include "backend/cpu/engine.hpp"
#include "tests/backend/arrays.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace sextant::cpu {
namespace {

Array as_array(std::vector<float>& v) { return {std::shared_ptr<void>(std::shared_ptr<void>(), v.data()), std::ssize(v), Element::real}; }

// Rows 2 KiB apart fall into a few sets of a core's caches, and are read in a way of their own.
TEST(CpuProducts, OfTurnedMatricesWithRowsThatShareSetsOfACache) {
    constexpr std::int64_t m = 50, n = 30, k = 333, pitch = 512;
    std::vector<float> a = made_reals(Made::input, {1}, k * pitch), b = made_reals(Made::input, {2}, k * n), c(m * n, 1.0F);
    Engine engine;
    engine.multiply(Matrix(as_array(a), k, m, pitch, 0).transpose(), Matrix(as_array(b), k, n), Matrix(as_array(c), m, n), 0.5F, 2);
    std::vector<float> expected(m * n);
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t x = 0; x < k; ++x) sum += static_cast<double>(a[x * pitch + i]) * b[x * n + j];
            expected[i * n + j] = static_cast<float>(0.5 * sum + 2);
        }
    EXPECT_LT(relative_error(c, expected), 1e-5);
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
