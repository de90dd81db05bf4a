// What each rank read of a dataset, and the sums over all ranks.
#pragma once

#include "backend/exec/dataset_feed.hpp"
#include "backend/storage/stage_dataset.hpp"
#include "model/graph/run_record.hpp"

#include <filesystem>
#include <vector>

namespace sextant {

// What one rank read, and what its host staged for it. Sent between processes byte by byte.
struct RankInput {
    int data = 0, stage = 0;  // its place among the data-parallel ranks, and its pipeline stage
    int workers = 0;          // that load; 0 where the rank only staged
    std::uint64_t taken = 0;  // checksum of the samples that training took, in their order
    double loaded = 0, skipped = 0;
    Seconds reading, decoding;  // of its workers, summed
    Bytes read;
    Seconds copy, unpack, remove;
};
RankInput input_of(const DatasetFeed&, const RankPlace&);
// Removes what was staged, and tells how long copying, unpacking and removing took.
RankInput remove_staged(StagedDataset&);

// By rank, none where one neither reads nor stages. Throws BackendError where the stages of a pipeline were fed different samples, as can
// happen when a file is readable at one time and not at another and bad samples are skipped.
DatasetSummary summarize(const std::vector<std::vector<RankInput>>&, const std::filesystem::path& dataset);

}  // namespace sextant
