#include "backend/exec/fed_ranks.hpp"

#include "backend/storage/formats.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <map>

namespace sextant {

FedRank fed_by(const DatasetFeed& feed, const RankPlace& place) {
    FedRank fed{place.data, place.pipeline, feed.workers(), feed.taken(), 0, static_cast<double>(feed.skipped().size()), {}, {}, {}, {}, {},
                {}};
    for (const BatchLoad& load : feed.loads()) {
        fed.loaded += static_cast<double>(load.samples);
        fed.reading += load.reading;
        fed.decoding += load.decoding;
        fed.read += load.read;
    }
    return fed;
}

FedRank staging_of(StagedDataset& staged) {
    FedRank host;
    host.copy = staged.copying();
    host.unpack = staged.unpacking();
    host.remove = staged.remove();
    return host;
}

DatasetSummary summarize(const std::vector<std::vector<FedRank>>& ranks, const std::filesystem::path& dataset) {
    DatasetSummary sum;
    sum.path = dataset.string();
    std::map<int, std::uint64_t> taken;  // by place among the data-parallel ranks
    for (const std::vector<FedRank>& rank : ranks)
        for (const FedRank& fed : rank) {
            // Hosts stage side by side; the slowest is waited for.
            sum.copy = max(sum.copy, fed.copy);
            sum.unpack = max(sum.unpack, fed.unpack);
            sum.remove = max(sum.remove, fed.remove);
            if (fed.workers == 0) continue;
            if (!taken.try_emplace(fed.data, fed.taken).second && taken[fed.data] != fed.taken)
                throw BackendError("the stages of pipeline " + std::to_string(fed.data) +
                                   " were fed different samples: some could be read by one of them only; losses mean nothing");
            sum.workers = std::max(sum.workers, fed.workers);
            sum.loaded += fed.loaded;
            sum.reading += fed.reading;
            sum.decoding += fed.decoding;
            sum.read += fed.read;
            if (fed.stage == 0) sum.skipped += fed.skipped;
        }
    sum.format = format_at(dataset).name;
    sum.samples = static_cast<double>(open_dataset(dataset)->count());
    return sum;
}

}  // namespace sextant
