// How fast one thread of a host handles samples, where that was measured on it. What is absent follows from the speed of a thread and the
// numbers of model/cost/data_formats.hpp. Data only.
#pragma once

#include "model/base/provenance.hpp"
#include "model/base/quantity.hpp"

#include <map>
#include <optional>
#include <string>

namespace sextant {

// The time that the library of a format takes beside the calls of the system: for each sample, and for its bytes.
struct FormatSpeed {
    std::optional<Sourced<Seconds>> read, write;
    std::optional<Sourced<Bandwidth>> read_bytes, write_bytes;
};

// Bandwidths count a byte for each value of the picture: decoded, encoded, scaled from, made a number.
struct SampleSpeeds {
    std::optional<Sourced<Bandwidth>> decode_jpeg, decode_png, encode_jpeg, encode_png, resize, convert;
    std::map<std::string, FormatSpeed, std::less<>> formats;  // by name
};

// Calls multiply(number, by) for each number that grows with the speed of a thread, and multiply(number, 1 / by) for each that shrinks.
template <class Speeds, class Multiply>
void scale_speeds(Speeds& s, double by, const Multiply& multiply) {
    for (auto* speed : {&s.decode_jpeg, &s.decode_png, &s.encode_jpeg, &s.encode_png, &s.resize, &s.convert}) multiply(*speed, by);
    for (auto& [name, format] : s.formats) {
        for (auto* time : {&format.read, &format.write}) multiply(*time, 1 / by);
        for (auto* speed : {&format.read_bytes, &format.write_bytes}) multiply(*speed, by);
    }
}

}  // namespace sextant
