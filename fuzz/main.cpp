// The entry point of libFuzzer; one program is built from this file for each target.
#include "fuzz/targets.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    sextant::fuzz::SEXTANT_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
    return 0;
}
