// Makes and converts datasets. `progress` is called with the number of samples done, also while none is done yet. An exception that it
// throws ends the work and leaves what was there before.
#pragma once

#include "backend/storage/dataset.hpp"
#include "backend/storage/loader.hpp"

namespace sextant {

struct MakeSettings {
    std::filesystem::path out;
    std::string format = "files";
    std::optional<SampleEncoding> encoding;  // absent: JPEG where the format takes it and the samples are images
    std::int64_t samples = 1000, classes = 10;
    Extents extents = {224, 224, 3};
    std::uint64_t seed = 1;
};

struct ConvertSettings {
    std::filesystem::path in, out;
    std::string format = "files";
    std::optional<SampleEncoding> encoding;  // absent: as they are, where the format takes that
    std::optional<ImageSize> resize;
    BadSamples bad = BadSamples::fail;
};

using SamplesDone = std::function<void(std::int64_t done, std::int64_t of)>;

struct Written {
    std::int64_t samples = 0;
    std::vector<std::string> skipped;  // what was wrong with each
};

// Both throw InputError for impossible settings, and BackendError when the disk refuses.
Written make_dataset(const MakeSettings&, const SamplesDone& progress);
Written convert_dataset(const ConvertSettings&, const SamplesDone& progress);

}  // namespace sextant
