// One sample: what reading it asks of storage, and what the thread of a loader does with it. docs/model/input.md derives it.
#pragma once

#include "model/cost/data_formats.hpp"
#include "model/hardware/cluster.hpp"

#include <optional>

namespace sextant {

// What reading one sample asks of storage.
struct SampleAccess {
    double opens = 0;  // of files
    double seeks = 0;  // to places in a file that no read-ahead has fetched
    Bytes bytes;
    double at_places = 0;  // the fraction of samples that begin at such a place, not where the one before ended
};
SampleAccess sample_access(DataFormat, Shuffle, Bytes sample, std::optional<std::int64_t> samples_per_file);

// With what the system reads ahead. For samples read in random order that is what other samples of the file need, and it is found when they
// are asked for if memory still holds it. `kept`: the fraction of the dataset that the node reads in an epoch and its memory holds.
SampleAccess with_read_ahead(SampleAccess, const StorageClass&, double kept);

// A thread of a host: its speed, and what was measured of it with samples.
struct SampleThread {
    double speed = 1;
    SampleSpeeds measured;
};
SampleThread thread_of(const HostSpec&);

// Bandwidth in decoded values: as measured on the host, else the usual one at its speed. None where samples are stored as values.
std::optional<Sourced<Bandwidth>> decoding_speed(SampleEncoding, const SampleThread&);

// A sample as it lies on storage.
struct StoredSample {
    DataFormat format = DataFormat::files;
    SampleEncoding encoding = SampleEncoding::raw;
    Bytes size;
    std::optional<Bytes> decoded;  // its values; absent: as its encoding usually compresses them
};
// How long a worker's thread takes for one sample. `input`: the values that the network takes.
Seconds sample_work(const StoredSample&, Transform, Bytes input, const SampleThread&);
// How long a thread takes to store a sample: it encodes it and hands it to the library of the format.
Seconds writing_work(const StoredSample&, const SampleThread&);

// How much is read from a place at once; calibrate --storage measures pieces of this size.
constexpr Bytes storage_piece = 512 * units::KiB;

// One read or write with nothing else going on.
Seconds read_time(const SampleAccess&, const StorageClass&);
Seconds write_time(const SampleAccess&, const StorageClass&);

// An object comes with one request; there is nothing to open before it.
inline double opens_of(const SampleAccess& a, const StorageClass& s) { return s.kind == StorageKind::object ? 0 : a.opens; }
// The part of read_time() in which bytes arrive.
Seconds streaming_time(const SampleAccess&, const StorageClass&);

}  // namespace sextant
