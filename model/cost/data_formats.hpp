// What formats and encodings ask of storage and of a loader's threads. Numbers with their sources; times are of one thread of a host of
// speed 1 (HostSpec::thread_speed).
#pragma once

#include "model/base/provenance.hpp"
#include "model/plan/data_source.hpp"

namespace sextant {

struct FormatFacts {
    bool packed = true;                          // many samples to a file
    Bytes beside;                                // headers and padding of one sample
    Sourced<Seconds> library;                    // that the library takes to find and hand out one sample, or to store one
    std::optional<Sourced<Bandwidth>> checksum;  // over its bytes, where the library computes one
};
const FormatFacts& facts_of(DataFormat);

struct EncodingFacts {
    double compression = 1;  // bytes of values over stored bytes
    // In values, of one thread. Absent: samples are stored as values.
    std::optional<Sourced<Bandwidth>> decode, encode;
};
const EncodingFacts& facts_of(SampleEncoding);

// Of one thread. `resize`: scaling to another size, in values that go in. `convert`: cropping, flipping, normalizing and converting to
// numbers, in values that come out.
struct TransformFacts {
    Sourced<Bandwidth> resize, convert;
};
const TransformFacts& transform_facts();

}  // namespace sextant
