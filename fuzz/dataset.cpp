#include "fuzz/dataset.hpp"

#include "backend/storage/codec.hpp"
#include "backend/storage/file.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <cstdlib>

#include <sys/mman.h>
#include <unistd.h>

namespace sextant::fuzz {

void read_as(const DatasetFormat& format, std::string_view input) {
    const Descriptor file(::memfd_create("input", MFD_CLOEXEC));
    if (::write(file.number(), input.data(), input.size()) != static_cast<ssize_t>(input.size())) std::abort();
    try {
        const auto reader = format.open("/proc/self/fd/" + std::to_string(file.number()));
        constexpr std::int64_t enough = 16;
        Sample sample;
        for (std::int64_t i = 0; i < std::min(enough, reader->count()); ++i) {
            try {
                reader->read(i, sample);
                decode(sample);
            } catch (const InputError&) {
            }
        }
    } catch (const InputError&) {
    }
}

}  // namespace sextant::fuzz
