#include "backend/cuda/cuda_device.hpp"
#include "backend/cuda/gpu.hpp"
#include "tests/backend/engine.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

class NeedsGpu : public testing::Environment {
public:
    void SetUp() override {
        if (cuda::gpu_count() == 0) GTEST_SKIP() << "no CUDA device";
    }
};

[[maybe_unused]] const testing::Environment* const needs_gpu = testing::AddGlobalTestEnvironment(new NeedsGpu);

}  // namespace

std::unique_ptr<ComputeDevice> make_device() { return cuda::make_device(0, false, false); }

}  // namespace sextant
