#include "model/plan/data_source.hpp"

namespace sextant {

std::string_view to_text(SampleEncoding e) {
    static constexpr std::string_view names[sample_encoding_count] = {"raw", "png", "jpeg"};
    return names[static_cast<std::size_t>(e)];
}

std::string_view to_text(DataFormat f) {
    static constexpr std::string_view names[data_format_count] = {"files", "tar", "zip", "hdf5", "lmdb", "tfrecord", "npy"};
    return names[static_cast<std::size_t>(f)];
}

bool has_random_access(DataFormat f) { return f != DataFormat::tar && f != DataFormat::tfrecord; }

Shuffle shuffle_of(const DataSource& d) { return d.shuffle.value_or(has_random_access(d.format) ? Shuffle::full : Shuffle::window); }

Transform transform_of(const DataSource& d) {
    return d.transform.value_or(d.encoding == SampleEncoding::raw ? Transform::none : Transform::resize);
}

std::int64_t waiting_batches(const DataSource& d) { return std::int64_t{d.workers} * d.prefetch; }

}  // namespace sextant
