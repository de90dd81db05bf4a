#include "backend/exec/rank_input.hpp"

#include "backend/storage/formats.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <map>

namespace sextant {

RankInput input_of(const DatasetFeed& feed, const RankPlace& place) {
    RankInput input{
        place.data, place.pipeline, feed.workers(), feed.taken(), 0, static_cast<double>(feed.skipped().size()), {}, {}, {}, {}, {}, {}};
    for (const BatchLoad& load : feed.loads()) {
        input.loaded += static_cast<double>(load.samples);
        input.reading += load.reading;
        input.decoding += load.decoding;
        input.read += load.read;
    }
    return input;
}

RankInput remove_staged(StagedDataset& staged) {
    RankInput host;
    host.copy = staged.copying();
    host.unpack = staged.unpacking();
    host.remove = staged.remove();
    return host;
}

DatasetSummary summarize(const std::vector<std::vector<RankInput>>& ranks, const std::filesystem::path& dataset) {
    DatasetSummary sum;
    sum.path = dataset.string();
    std::map<int, std::uint64_t> taken;  // by place among the data-parallel ranks
    for (const std::vector<RankInput>& rank : ranks)
        for (const RankInput& input : rank) {
            // Hosts stage side by side; the slowest is waited for.
            sum.copy = max(sum.copy, input.copy);
            sum.unpack = max(sum.unpack, input.unpack);
            sum.remove = max(sum.remove, input.remove);
            if (input.workers == 0) continue;
            if (!taken.try_emplace(input.data, input.taken).second && taken[input.data] != input.taken)
                throw BackendError("the stages of pipeline " + std::to_string(input.data) +
                                   " were fed different samples: some could be read by one of them only; losses mean nothing");
            sum.workers = std::max(sum.workers, input.workers);
            sum.loaded += input.loaded;
            sum.reading += input.reading;
            sum.decoding += input.decoding;
            sum.read += input.read;
            if (input.stage == 0) sum.skipped += input.skipped;
        }
    sum.format = format_at(dataset).name;
    sum.samples = static_cast<double>(open_dataset(dataset)->count());
    return sum;
}

}  // namespace sextant
