// Where a job's samples come from and how they reach a device, and where its checkpoints go. Values; model/cost/ prices them.
#pragma once

#include "model/base/enum_array.hpp"
#include "model/base/quantity.hpp"
#include "model/hardware/storage.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace sextant {

// What the bytes of a stored sample are: values, or an image that must be decoded.
enum class SampleEncoding { raw, png, jpeg };
inline constexpr int sample_encoding_count = static_cast<int>(SampleEncoding::jpeg) + 1;
inline constexpr auto all_sample_encodings = enumerators<SampleEncoding, sample_encoding_count>();
// How samples lie on storage: one file each, or packed.
enum class DataFormat { files, tar, zip, hdf5, lmdb, tfrecord, npy };
inline constexpr int data_format_count = static_cast<int>(DataFormat::npy) + 1;
inline constexpr auto all_data_formats = enumerators<DataFormat, data_format_count>();
// The order in which an epoch takes them: as they lie, shuffled within a buffer that is filled in that order, or any.
enum class Shuffle { none, window, full };
// What a worker does with a decoded sample. `convert`: crop, flip, normalize, convert to the network's numbers. `resize`: also scale it
// from its stored size.
enum class Transform { none, convert, resize };
// Before the first step (copy; copy and unpack), or while the first epoch reads.
enum class StagingMode { none, copy, untar, first_epoch };

std::string_view to_text(SampleEncoding);
std::string_view to_text(DataFormat);

struct Staging {
    StagingMode mode = StagingMode::none;
    std::optional<StorageClass> to;  // on every node; present unless the mode is none
};

struct Checkpoints {
    StorageClass storage;
    std::optional<std::int64_t> every_steps;  // this
    std::optional<Seconds> every;             // or this
    bool asynchronous = false;                // training waits for the copy to host memory only
};

struct DataSource {
    bool synthetic = true;                // always ready; of the fields below only checkpoints count
    std::optional<StorageClass> storage;  // present unless synthetic
    std::optional<std::int64_t> samples;  // of one epoch
    Bytes sample_bytes;                   // as stored
    std::optional<Bytes> decoded_bytes;   // of a decoded image, before it is scaled
    SampleEncoding encoding = SampleEncoding::raw;
    DataFormat format = DataFormat::files;
    std::optional<std::int64_t> samples_per_file;  // of a packed format; absent: all in one
    std::optional<Shuffle> shuffle;                // absent: full where the format has random access, else window
    std::optional<Transform> transform;            // absent: resize of what is decoded, else none
    Staging staging;
    int workers = 4;                  // for each device that is fed; 0: the training process reads between its steps
    int prefetch = 2;                 // batches that each worker has ready; 0: it starts when it is asked
    bool pinned = true;               // host memory that devices can copy from while they work
    bool by_sample = false;           // a copy to the device for each sample, not for each micro-batch
    double others = 0;                // the fraction of a shared storage that other jobs take
    std::optional<Bytes> page_cache;  // of a node; absent: what the host's memory leaves
    std::optional<Checkpoints> checkpoints;
};

// As stated, else what format and encoding imply.
Shuffle shuffle_of(const DataSource&);
Transform transform_of(const DataSource&);

// How many micro-batches may be ready for each device that is fed. 0: each is loaded when it is asked for.
std::int64_t waiting_batches(const DataSource&);

// Whether a sample can be read without those before it.
bool has_random_access(DataFormat);

}  // namespace sextant
