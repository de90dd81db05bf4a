// Kernels on cores, which compute beside what they load.
#include "model/cost/compute.hpp"

#include "tests/cost/round_rates.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using round_machine::product, round_machine::rates;

// 1 TB/s from memory, 10 TB/s from a cache of 1 MB.
DeviceRates rates_with_cache() {
    Device d = round_machine::device();
    d.kind = DeviceKind::cpu;
    d.l2 = round_machine::given(1 * MB);
    d.cache_bandwidth = round_machine::given(10 * TB / s);
    DeviceRates r = device_rates(d, round_machine::framework(), Plan{});
    r.measured = {};  // nor does anything else point into the device
    return r;
}

TEST(KernelTime, OfAConvolutionOnACoreFillsRegisters) {
    // 24 channels of four bytes are two registers of 64 bytes, as 32 are; 8 channels are one, as 16 are.
    DeviceRates core = rates_with_cache();
    core.memory = core.cached = 1e6 * GB / s;  // arithmetic alone
    const auto of_a_flop = [&](std::int64_t channels) {
        Kernel conv = product(4096, channels, 4096);
        conv.kind = KernelKind::convolution;
        conv.type = DataType::fp32;
        return (kernel_time(conv, core) - 1 * us) / conv.flops.si();
    };
    EXPECT_NEAR(of_a_flop(24) / of_a_flop(32), 32.0 / 24, 1e-6);
    EXPECT_NEAR(of_a_flop(8) / of_a_flop(16), 2, 1e-6);
}

TEST(KernelTime, OfTheGradientOfFiltersOnACoreGoesOverTheImageForEachRegisterOfChannels) {
    // 40 output channels of FP32 are three registers. Filters of 9 x 16 x 40 and the gradient of 1000 pixels of 40 channels: 183 KB; with
    // an image of 512 KB all of it is 695 KB, at 10 TB/s from the cache.
    DeviceRates core = rates_with_cache();
    Kernel conv = product(9 * 16, 40, 1000);
    conv.kind = KernelKind::convolution;
    conv.type = DataType::fp32;
    conv.bytes = 4.0 * 40 * (9 * 16 + 1000) * B + 512 * KB;
    conv.backward = true;
    const Seconds of_image = kernel_time(conv, core);
    conv.weight_gradient = true;
    EXPECT_NEAR((kernel_time(conv, core) - of_image) / us, 2 * 0.0512, 1e-9);
}

TEST(StreamingTime, IsThatOfTheCacheForWhatItHoldsAndFallsToThatOfMemoryAtTwiceAsMuch) {
    const DeviceRates r = rates_with_cache();
    EXPECT_NEAR(streaming_time(1 * MB, r) / us, 0.1, 1e-12);
    // Of 1.5 MB, half a megabyte is still there: 0.05 us. For the other a third more is fetched: 1.33 us.
    EXPECT_NEAR(streaming_time(1.5 * MB, r) / us, 0.05 + 4.0 / 3, 1e-12);
    EXPECT_NEAR(streaming_time(2 * MB, r) / us, 2 * 4.0 / 3, 1e-12);
    EXPECT_NEAR(streaming_time(3 * MB, r) / us, 3 * 4.0 / 3, 1e-12);
    EXPECT_NEAR(streaming_time(3 * MB, rates()) / us, 3, 1e-12);
}

TEST(StreamingTime, FindsBehindACoresOwnCacheWhatTheSharedOneHolds) {
    // 4 MB at 5 TB/s behind 1 MB at 10 TB/s and before memory at 1 TB/s.
    DeviceRates r = rates_with_cache();
    r.shared = 5 * TB / s;
    r.shared_cache = 4 * MB;
    EXPECT_NEAR(streaming_time(1 * MB, r) / us, 0.1, 1e-12);
    // Half a megabyte in the first, one in the second, from where a third more is fetched; of 6 MB two are left there.
    EXPECT_NEAR(streaming_time(1.5 * MB, r) / us, 0.05 + 0.2 * 4 / 3, 1e-12);
    EXPECT_NEAR(streaming_time(4 * MB, r) / us, 0.8 * 4 / 3, 1e-12);
    EXPECT_NEAR(streaming_time(6 * MB, r) / us, (0.4 + 4) * 4 / 3, 1e-12);
    EXPECT_NEAR(streaming_time(9 * MB, r) / us, 12, 1e-12);
    // An update reads all that it writes. Twice over 4 MB, all of it there: 8 MB at 5 TB/s.
    EXPECT_NEAR(passing_time(8 * MB, 4 * MB, r) / us, 1.6, 1e-12);
}

TEST(KernelTime, OfAProductOnACoreReadsItsWeightsFromWhereTheUpdateLeftThem) {
    // 2 x 1000 x 1000 x 5000 = 10 GFLOP at 100 TFLOP/s are 100 us, 1 us to start. 10 MB of weights twice, and 2 MB from memory at 1 TB/s.
    Kernel g = product(1000, 1000, 5000);
    g.bytes = 12 * MB;
    DeviceRates r = rates_with_cache();
    r.shared = 5 * TB / s;
    r.shared_cache = 40 * MB;
    EXPECT_NEAR(kernel_time(g, r) / us, 1 + 100 + 20 + 0.4, 1e-9);
    r.kept = 40 * MB;  // weights, gradients and states: the shared cache holds them all
    EXPECT_NEAR(kernel_time(g, r) / us, 1 + 100 + 4 + 0.4, 1e-9);
    r.kept = 80 * MB;
    EXPECT_NEAR(kernel_time(g, r) / us, 1 + 100 + 20 + 0.4, 1e-9);
}

TEST(KernelTime, OfTheGradientOfAWeightOnACoreFetchesWhatItWrites) {
    // As above, 12 MB of operands, and the result of 1000 x 1000 in BF16 is fetched too: 14 us.
    Kernel g = product(1000, 1000, 5000);
    g.bytes = 12 * MB;
    g.backward = g.weight_gradient = true;
    EXPECT_NEAR(kernel_time(g, rates_with_cache()) / us, 1 + 100 + 14, 1e-9);
    // What the product adds to is among its bytes.
    g.epilogue = 2 * MB;
    EXPECT_NEAR(kernel_time(g, rates_with_cache()) / us, 1 + 100 + 12, 1e-9);
}

TEST(KernelTime, OfAProductOnACoreLoadsInBackwardBesideItsArithmeticWhatTheCacheHolds) {
    // 2 x 500 x 1000 x 200 operations are 2 us.
    Kernel small = product(500, 1000, 200);
    small.bytes = 0.9 * MB;
    small.backward = true;
    EXPECT_NEAR(kernel_time(small, rates_with_cache()) / us, 1 + 2, 1e-9);
    small.weight_gradient = true;
    EXPECT_NEAR(kernel_time(small, rates_with_cache()) / us, 1 + 2, 1e-9);
    // Of 1.6 MB a quarter is there for the next pass; the rest, and as much of the result of 1 MB, comes from memory at 1 TB/s.
    small.bytes = 1.6 * MB;
    EXPECT_NEAR(kernel_time(small, rates_with_cache()) / us, 1 + 2 + 0.75 * 2.6, 1e-9);
}

TEST(KernelTime, OfAProductOnACoreAddsThePassesOverItsOperandsToItsArithmetic) {
    // 2 x 1000 x 1000 x 5000 = 10 GFLOP at 100 TFLOP/s are 100 us; 12 MB from memory 12 us; 1 us to start.
    Kernel g = product(1000, 1000, 5000);
    g.bytes = 12 * MB;
    g.backward = true;
    EXPECT_NEAR(kernel_time(g, rates_with_cache()) / us, 113, 1e-9);
    // Forward 10 MB of these are weights, which are turned round in a pass of their own: 20 us, and 2 for the others.
    g.backward = false;
    EXPECT_NEAR(kernel_time(g, rates_with_cache()) / us, 123, 1e-9);
    // 1000 x 200 weights in BF16, 0.4 MB, come from memory although the cache could hold them: 0.8 us; 0.5 MB else from the cache 0.05 us.
    Kernel small = product(500, 1000, 200);
    small.bytes = 0.9 * MB;
    EXPECT_NEAR(kernel_time(small, rates_with_cache()) / us, 1 + 2 + 0.8 + 0.05, 1e-9);
}

// So many bytes, and 3500 exponentials of 1 ns each where the core's rates are these.
Kernel gelu(Bytes bytes) {
    Kernel k;
    k.bytes = bytes;
    k.exponentials = 3500;
    return k;
}
DeviceRates rates_of_functions() {
    DeviceRates core = rates_with_cache();
    core.exponential = 1e-3 * us;
    return core;
}

TEST(KernelTime, OfAFunctionOnACoreAddsItsArithmeticToItsPasses) {
    // 1 MB in the cache takes 0.1 us, 3500 exponentials of 1 ns each 3.5 us; 1 us to start. A GPU only has the passes: 1 us.
    const Kernel function = gelu(1 * MB);
    EXPECT_NEAR(kernel_time(function, rates_of_functions()) / us, 4.6, 1e-9);
    EXPECT_NEAR(kernel_time(function, rates_of_functions(), {.compute = 2}) / us, 1 + 0.1 + 1.75, 1e-9);
    EXPECT_NEAR(kernel_time(function, rates()) / us, 2, 1e-9);
}

TEST(KernelTime, OfAFunctionOnACoreHidesWhatIsFetchedAhead) {
    // 3 MB from memory, and a third more, take 4 us. Loads and stores of 3 MB from the cache are 0.3 us, 3500 exponentials 3.5 us: 3.8 in
    // all.
    Kernel function = gelu(3 * MB);
    EXPECT_NEAR(kernel_time(function, rates_of_functions()) / us, 1 + 4, 1e-9);
    function.exponentials = 7000;
    EXPECT_NEAR(kernel_time(function, rates_of_functions()) / us, 1 + 0.3 + 7, 1e-9);
}

}  // namespace
}  // namespace sextant
