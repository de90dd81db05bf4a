// What the ranks that read a dataset did, put together.
#pragma once

#include "backend/exec/dataset_feed.hpp"
#include "backend/storage/stage_dataset.hpp"
#include "model/graph/run_record.hpp"

#include <filesystem>
#include <vector>

namespace sextant {

// What one rank read. Sent between processes byte by byte.
struct FedRank {
    int data = 0, stage = 0, workers = 0;
    std::uint64_t taken = 0;
    double loaded = 0, skipped = 0;
    Seconds reading, decoding;
    Bytes read;
    Seconds copy, unpack, remove;
};
FedRank fed_by(const DatasetFeed&, const RankPlace&);
// Takes away what was staged, and tells what all of it took.
FedRank staging_of(StagedDataset&);

// By rank, none where one neither reads nor stages. Throws BackendError where the stages of a pipeline were fed different samples, as can
// happen when a file is readable at one time and not at another and bad samples are skipped.
DatasetSummary summarize(const std::vector<std::vector<FedRank>>&, const std::filesystem::path& dataset);

}  // namespace sextant
