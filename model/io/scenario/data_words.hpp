// The words that a source of samples is written in.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/plan/data_source.hpp"

namespace sextant {

inline constexpr Word<SampleEncoding> encoding_words[] = {
    {"raw", SampleEncoding::raw}, {"png", SampleEncoding::png}, {"jpeg", SampleEncoding::jpeg}};
inline constexpr Word<DataFormat> data_format_words[] = {
    {"files", DataFormat::files}, {"tar", DataFormat::tar}, {"zip", DataFormat::zip},          {"hdf5", DataFormat::hdf5},
    {"lmdb", DataFormat::lmdb},   {"npy", DataFormat::npy}, {"tfrecord", DataFormat::tfrecord}};
inline constexpr Word<Shuffle> shuffle_words[] = {{"none", Shuffle::none}, {"window", Shuffle::window}, {"full", Shuffle::full}};
inline constexpr Word<StagingMode> staging_words[] = {
    {"none", StagingMode::none}, {"copy", StagingMode::copy}, {"untar", StagingMode::untar}, {"first_epoch", StagingMode::first_epoch}};

}  // namespace sextant
