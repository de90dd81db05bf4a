// What formats and encodings ask of storage and of a loader's threads. Numbers with their sources; times are of one thread of a host of
// speed 1 (HostSpec::thread_speed).
#pragma once

#include "model/base/provenance.hpp"
#include "model/plan/data_source.hpp"

namespace sextant {

struct FormatFacts {
    bool packed = true;                          // many samples to a file
    Bytes beside;                                // headers and padding of one sample
    Sourced<Seconds> library;                    // of the library that finds and hands out one sample, or puts one in
    std::optional<Sourced<Bandwidth>> checksum;  // of its bytes, where the library looks at them once more
};
const FormatFacts& facts_of(DataFormat);

struct EncodingFacts {
    double compression = 1;  // bytes of values to stored ones
    // Values that one thread decodes, and encodes. Absent: they are values already.
    std::optional<Sourced<Bandwidth>> decode, encode;
};
const EncodingFacts& facts_of(SampleEncoding);

// Values that one thread scales to another size, of those that go in; and that it crops, flips, normalises and hands on as numbers, of
// those that come out.
struct TransformFacts {
    Sourced<Bandwidth> resize, convert;
};
const TransformFacts& transform_facts();

}  // namespace sextant
