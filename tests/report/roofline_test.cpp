#include "model/report/roofline.hpp"

#include "model/predict/state.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sextant {
namespace {

using namespace units;

// The matrix products alone.
std::vector<RooflineKernel> products_of(const Roofline& all) {
    std::vector<RooflineKernel> products;
    std::ranges::copy_if(all.kernels, std::back_inserter(products),
                         [](const RooflineKernel& k) { return k.kernel.kind == KernelKind::gemm; });
    return products;
}

// Four layers, a product of 1024 x 1024 x 1024 forward and two backward in each, for two micro-batches: 2 x 4 forward, and as many of
// each of the two backward. Intensity: 2 x 1024^3 FLOP over three matrices of 1024^2 elements of two bytes, and what else the kernel moves.
TEST(Roofline, CountsEveryRunOfEveryKernelInAStep) {
    Scenario job = products_job(4, 2);
    const Roofline all = roofline(prepare(job));
    double forward = 0, backward = 0;
    for (const RooflineKernel& k : products_of(all)) {
        (k.phase == Term::forward ? forward : backward) += k.runs;
        EXPECT_EQ(k.time, one_product(job));
        EXPECT_EQ(k.bound, KernelBound::compute);
        ASSERT_TRUE(k.intensity());
        EXPECT_NEAR(*k.intensity(), k.kernel.flops.si() / k.kernel.bytes.si(), 1e-9);
        EXPECT_LE(*k.intensity(), 2.0 * 1024 * 1024 * 1024 / (3 * 1024 * 1024 * 2));
    }
    EXPECT_EQ(forward, 8);
    EXPECT_EQ(backward, 16);
    EXPECT_NEAR(all.total() / one_product(job), 24, 1e-6);
}

TEST(Roofline, ItsKernelsAreWhatTheClosedFormAddsUp) {
    Scenario job = products_job(4);
    const Prepared prepared = prepare(job);
    const Estimate e = estimate(prepared);
    Seconds forward, backward;
    for (const RooflineKernel& k : roofline(prepared).kernels) (k.phase == Term::forward ? forward : backward) += k.in_step();
    EXPECT_NEAR(forward / e.terms[Term::forward], 1, 1e-9);
    EXPECT_NEAR(backward / e.terms[Term::backward], 1, 1e-9);
}

TEST(Roofline, NoKernelIsAboveTheRoofOfItsType) {
    Scenario job = mlp_job(4);
    const Roofline all = roofline(prepare(job));
    ASSERT_FALSE(all.roofs.empty());
    EXPECT_TRUE(std::ranges::is_sorted(all.roofs, std::greater<>(), &Roof::peak));
    EXPECT_TRUE(std::ranges::any_of(all.roofs, &Roof::used));
    for (const RooflineKernel& k : all.kernels) {
        EXPECT_LE(k.kernel.bytes / k.time, all.stream * (1 + 1e-9));
        if (const auto roof = std::ranges::find(all.roofs, k.kernel.type, &Roof::type); k.intensity() && roof != all.roofs.end()) {
            EXPECT_LE(k.kernel.flops / k.time, roof->peak);
        }
    }
}

TEST(Roofline, AKernelIsBoundByWhatTwiceOfShortensItMost) {
    Scenario job = mlp_job(2);
    job.cluster.node.device.memory_bandwidth.value = 1 * GB / s;  // a product moves 6 MB in 6 ms, and computes in far less
    const Roofline slow = roofline(prepare(job));
    for (const RooflineKernel& k : products_of(slow)) EXPECT_EQ(k.bound, KernelBound::memory);
    EXPECT_GT(slow.by_bound[KernelBound::memory] / slow.total(), 0.9);
}

}  // namespace
}  // namespace sextant
