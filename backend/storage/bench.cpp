#include "backend/storage/bench.hpp"

#include "backend/storage/bring_to_disk.hpp"
#include "backend/storage/clock.hpp"
#include "backend/storage/codec.hpp"
#include "backend/storage/file.hpp"
#include "backend/storage/formats.hpp"
#include "backend/storage/page_cache.hpp"
#include "model/base/diagnostics.hpp"
#include "model/base/quantity_text.hpp"

#include <algorithm>

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t batch = 32;
constexpr double most_to_write = 1e9;  // bytes of samples in all times, which are held in memory before they are written

class Stopwatch {
public:
    [[nodiscard]] Seconds elapsed() const { return now() - start_; }

private:
    Seconds start_ = now();
};

// One row to be: how the samples are read.
struct Pass {
    std::string_view what;
    bool shuffle = false, decode = false;
    int workers = 1;
    bool cold = false;
};

std::vector<Pass> passes_of(const BenchSettings& s) {
    std::vector<Pass> passes;
    for (const bool cold : {true, false}) {
        if (!(cold ? s.cold : s.warm)) continue;
        for (const int workers : s.workers) {
            if (s.in_order) passes.push_back({"read in order", false, false, workers, cold});
            passes.push_back({"read shuffled", true, false, workers, cold});
            passes.push_back({"read shuffled and decode", true, true, workers, cold});
        }
    }
    return passes;
}

// What a time of each row adds to it.
void add_time(BenchRow& row, Seconds time, const ReadCounters& before, std::int64_t samples, Bytes bytes) {
    const ReadCounters after = read_counters();
    row.times.insert(std::ranges::upper_bound(row.times, time), time);
    row.read_calls = after.calls - before.calls;
    row.from_disk = after.from_disk - before.from_disk;
    row.samples = samples;
    row.bytes = bytes;
}

class Bench {
public:
    Bench(const BenchSettings& settings, const std::function<void(std::int64_t, std::int64_t)>& progress)
        : s_(settings), progress_(progress), passes_(passes_of(settings)) {}
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;
    // Only now: an ext4 without a journal creates files slowly where others were removed within the last minute.
    ~Bench() {
        std::error_code ignored;
        for (const fs::path& path : written_) fs::remove_all(path, ignored);
    }

    BenchResult run() {
        describe();
        if (const std::string beyond = s_.cold ? beyond_reach(s_.path) : ""; !beyond.empty()) note("cold as far as one can see: " + beyond);
        for (const bool cold : {true, false})
            if (cold ? s_.cold : s_.warm) open_rows_.push_back({"open", 1, cold, 0, {}, {}, 0, {}});
        for (const Pass& p : passes_) rows_.push_back({std::string(p.what), p.workers, p.cold, 0, {}, {}, 0, {}});
        // One after the other, and all of them again: what changes on the machine spreads over all.
        for (int epoch = 0; epoch < s_.epochs; ++epoch) {
            for (std::size_t i = 0; i < passes_.size(); ++i) {
                read(passes_[i], rows_[i], epoch);
                ++done_;
            }
            if (s_.write) write(), ++done_;
            tell();
        }
        result_.rows = open_rows_;
        result_.rows.insert(result_.rows.end(), rows_.begin(), rows_.end());
        result_.rows.insert(result_.rows.end(), write_rows_.begin(), write_rows_.end());
        return std::move(result_);
    }

private:
    // Also within a pass, which of a large dataset takes minutes: whoever is told may end it.
    void tell() const {
        progress_(done_, static_cast<std::int64_t>(s_.epochs) * static_cast<std::int64_t>(passes_.size() + (s_.write ? 1 : 0)));
    }

    // A look at everything; so warm is warm.
    void describe() {
        const std::unique_ptr<DatasetReader> reader = open_dataset(s_.path);
        result_.path = s_.path.string();
        result_.format = format_at(s_.path).name;
        result_.samples = reader->count();
        Sample sample;
        for (std::int64_t i = 0; i < reader->count(); ++i) {
            tell();
            try {
                reader->read(i, sample);
                result_.bytes += static_cast<double>(sample.bytes.size()) * units::B;
                if (!extents_.empty()) continue;
                encoding_ = encoding_of(sample);
                naming([&] { return reader->name(i); }, [&] { extents_ = decode(sample).extents; });
            } catch (const InputError& e) {
                if (s_.bad == BadSamples::fail) throw;
                note(std::string("skipped: ") + e.what());
            }
        }
        result_.encoding = to_text(encoding_);
        result_.extents = to_text(extents_);
    }

    void note(const std::string& text) {
        if (std::ranges::find(result_.notes, text) == result_.notes.end()) result_.notes.push_back(text);
    }

    LoaderSettings settings_of(const Pass& pass, int epoch) const {
        LoaderSettings l;
        l.batch = batch;
        l.workers = pass.workers;
        l.prefetch = std::int64_t{2} * pass.workers;
        l.shuffle = pass.shuffle;
        l.seed = s_.seed + static_cast<std::uint64_t>(epoch);
        l.decode = pass.decode;
        l.partial = true;
        l.bad = s_.bad;
        l.resize = s_.resize;
        return l;
    }

    void read(const Pass& pass, BenchRow& row, int epoch) {
        if (pass.cold) {
            const std::string less = shortcoming(drop_from_cache(s_.path));
            if (!less.empty()) note("cold is not quite cold: " + less);
        }
        ReadCounters before = read_counters();
        const Stopwatch opening;
        const std::shared_ptr<const DatasetReader> reader = open_dataset(s_.path);
        add_time(*std::ranges::find(open_rows_, pass.cold, &BenchRow::cold), opening.elapsed(), before, reader->count(), {});

        before = read_counters();
        const Stopwatch reading;
        Loader loader(reader, settings_of(pass, epoch));
        std::int64_t samples = 0;
        Bytes bytes;
        while (const std::optional<LoadedBatch> loaded = loader.next()) {
            samples += static_cast<std::int64_t>(loaded->labels.size());
            bytes += loaded->work.read;
            tell();
        }
        add_time(row, reading.elapsed(), before, samples, bytes);
        for (const auto& [index, why] : loader.skipped()) note("skipped: " + why);
    }

    // The same samples once more, beside the dataset.
    void write() {
        const DatasetFormat& format = format_at(s_.path);
        const std::unique_ptr<DatasetReader> reader = open_dataset(s_.path);
        std::vector<Sample> samples;
        Bytes bytes;
        for (std::int64_t i = 0; i < reader->count() && bytes.si() < most_to_write / s_.epochs; ++i) {
            tell();
            try {
                reader->read(i, samples.emplace_back());
                bytes += static_cast<double>(samples.back().bytes.size()) * units::B;
            } catch (const InputError&) {
                samples.pop_back();  // noted when it was read
                if (s_.bad == BadSamples::fail) throw;
            }
        }
        if (write_rows_.empty()) write_rows_ = {{"write", 1, false, 0, {}, {}, 0, {}}, {"write to the disk", 1, false, 0, {}, {}, 0, {}}};
        const auto count = static_cast<std::int64_t>(samples.size());
        const ReadCounters before = read_counters();
        const fs::path& beside = written_.emplace_back(whole_path(s_.path).string() + ".bench" + std::to_string(written_.size()));
        const Stopwatch writing;
        const std::unique_ptr<DatasetWriter> writer = format.create(beside, {count, encoding_, extents_});
        for (const Sample& sample : samples) writer->append(sample);
        writer->finish();
        add_time(write_rows_[0], writing.elapsed(), before, count, bytes);
        bring_to_disk(beside);
        add_time(write_rows_[1], writing.elapsed(), before, count, bytes);
        drop_from_cache(beside);  // so that the next pass finds as much memory as this one did
    }

    const BenchSettings& s_;
    const std::function<void(std::int64_t, std::int64_t)>& progress_;
    std::vector<Pass> passes_;
    std::vector<BenchRow> open_rows_, rows_, write_rows_;
    BenchResult result_;
    SampleEncoding encoding_ = SampleEncoding::raw;  // of the first good sample
    Extents extents_;                                // likewise
    std::vector<fs::path> written_;
    std::int64_t done_ = 0;
};

}  // namespace

Seconds BenchRow::median() const {
    const std::size_t half = times.size() / 2;
    return times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2;
}

BenchResult bench_dataset(const BenchSettings& settings, const std::function<void(std::int64_t, std::int64_t)>& progress) {
    return Bench(settings, progress).run();
}

}  // namespace sextant
