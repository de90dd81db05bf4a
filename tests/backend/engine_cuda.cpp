#include "backend/cuda/cuda_device.hpp"
#include "backend/cuda/gpu.hpp"
#include "model/base/diagnostics.hpp"
#include "tests/backend/engine.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

class NeedsGpu : public testing::Environment {
public:
    void SetUp() override {
        try {
            (void)cuda::gpu_count();
        } catch (const BackendError& e) {
            GTEST_SKIP() << e.what();
        }
    }
};

[[maybe_unused]] const testing::Environment* const needs_gpu = testing::AddGlobalTestEnvironment(new NeedsGpu);

}  // namespace

std::unique_ptr<ComputeDevice> make_device() { return cuda::make_device(0, false, false); }

}  // namespace sextant
