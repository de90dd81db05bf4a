// GPUs that are not here, as cuDNN is told of them: it chooses by that, and compiles; nothing is run. It wants NVIDIA's driver to be there;
// where it is not, the library that programs are linked with in its place will do, which refuses every call.
#pragma once

#include "backend/cuda/operation_graph.hpp"
#include "model/base/diagnostics.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

namespace sextant::cuda {

// As cuDNN 9.19 names them, and the data sheets and `deviceQuery` say.
inline Descriptor gpu(int version, int multiprocessors, int shared_memory, int threads, int blocks, int l2_bytes) {
    const auto n = [](int value) { return std::to_string(value); };
    return properties_of(R"({"deviceName": "GPU", "cudaDeviceId": 0, "pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1,
        "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "maxThreadsPerBlock": 1024, "warpSize": 32,
        "regsPerBlock": 65536, "maxRegistersPerSM": 65536, "maxSharedMemoryPerBlock": 49152, "reservedSharedMemoryPerBlock": 1024,
        "smClockRateKHz": 1410000, "memClockRateKHz": 1593000, "totalGlobalMem": 80000000000, "driverVer": 13000, "deviceVer": )" +
                         n(version) + R"(, "multiProcessorCount": )" + n(multiprocessors) + R"(, "maxSharedMemoryPerBlockOptin": )" +
                         n(shared_memory) + R"(, "maxThreadsPerSM": )" + n(threads) + R"(, "maxCtasPerSM": )" + n(blocks) +
                         R"(, "l2CacheSize": )" + n(l2_bytes) + "}");
}
inline Descriptor gtx_1080_ti() { return gpu(610, 28, 49152, 2048, 32, 2816 << 10); }
inline Descriptor t4() { return gpu(750, 40, 65536, 1024, 16, 4 << 20); }
inline Descriptor a100() { return gpu(800, 108, 166912, 2048, 32, 40 << 20); }
inline Descriptor h200() { return gpu(900, 132, 232448, 2048, 32, 60 << 20); }

class TellsCudnnOfGpus : public testing::Test {
protected:
    void SetUp() override {
        if (dlopen("libcuda.so.1", RTLD_NOW) == nullptr && dlopen(SEXTANT_CUDA_DRIVER_STUB, RTLD_NOW) == nullptr)
            GTEST_SKIP() << "neither a driver nor its stand-in: " << dlerror();
        try {
            h200();
        } catch (const BackendError& e) {
            GTEST_SKIP() << "cuDNN " << cudnnGetVersion() << " wants to know something else of a GPU: " << e.what();
        }
    }
};

}  // namespace sextant::cuda
