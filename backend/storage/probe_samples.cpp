#include "backend/storage/probe_samples.hpp"

#include "backend/storage/clock.hpp"
#include "backend/storage/codec.hpp"
#include "backend/storage/file.hpp"
#include "backend/storage/formats.hpp"
#include "backend/storage/learnable_samples.hpp"
#include "backend/storage/numbers.hpp"
#include "backend/storage/probe_folder.hpp"
#include "model/base/diagnostics.hpp"
#include "model/plan/data_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include <fcntl.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;
using namespace units;

constexpr int passes = 3;
constexpr std::int64_t pictures = 24, of_batch = 16;
constexpr ImageSize stored{192, 192}, scaled{64, 64};

// Two sizes: what each sample takes, and what its bytes do.
struct SizeOfSamples {
    std::int64_t bytes, count;
};
constexpr std::array sizes{SizeOfSamples{2'000, 1000}, SizeOfSamples{200'000, 150}};

// The middle of some passes.
template <class Work>
Seconds time_of(const Work& work) {
    std::array<Seconds, passes> times;
    for (Seconds& time : times) {
        const Seconds start = now();
        work();
        time = now() - start;
    }
    std::ranges::sort(times);
    return times[passes / 2];
}

class SampleProber {
public:
    SampleProber(const fs::path& folder, std::string source, const SamplesDone& progress)
        : folder_(folder), source_(std::move(source)), progress_(progress) {}

    SampleSpeeds run() {
        measure_pictures();
        for (const DataFormat format : all_data_formats) measure_format(format);
        return std::move(speeds_);
    }

private:
    void done() { progress_(++done_, 1 + static_cast<std::int64_t>(std::size(all_data_formats))); }

    template <class T>
    [[nodiscard]] Sourced<T> measured(T value) const {
        return {value, SourceKind::measured, source_};
    }
    [[nodiscard]] Sourced<Bandwidth> rate(Bytes values, Seconds time) const { return measured(values / time); }

    void measure_pictures() {
        const LearnableSamples made({stored.height, stored.width, 3}, 4, 1);
        std::vector<ByteArray> values;
        for (std::int64_t i = 0; i < pictures; ++i) values.push_back(decode(made.sample(i)));
        const Bytes all = static_cast<double>(pictures * elements(made.extents())) * B;
        const auto encoding = [&](SampleEncoding as, std::optional<Sourced<Bandwidth>>& encodes,
                                  std::optional<Sourced<Bandwidth>>& decodes) {
            std::vector<Sample> files(values.size());
            encodes = rate(all, time_of([&] {
                               for (std::size_t i = 0; i < values.size(); ++i) files[i] = encode(values[i], 0, as);
                           }));
            decodes = rate(all, time_of([&] {
                               for (const Sample& file : files) values.front() = decode(file);
                           }));
        };
        encoding(SampleEncoding::jpeg, speeds_.encode_jpeg, speeds_.decode_jpeg);
        encoding(SampleEncoding::png, speeds_.encode_png, speeds_.decode_png);
        speeds_.resize = rate(all, time_of([&] {
                                  for (const ByteArray& image : values) static_cast<void>(resize(image, scaled.height, scaled.width));
                              }));
        speeds_.convert = rate(all, time_of([&] {
                                   std::vector<float> numbers;
                                   for (std::size_t i = 0; i < values.size(); ++i) {
                                       if (i % of_batch == 0) {
                                           numbers = {};
                                           numbers.reserve(of_batch * values[i].values.size());
                                       }
                                       append_numbers(numbers, values[i].values, {});
                                   }
                               }));
        done();
    }

    void measure_format(DataFormat format) {
        const std::string name(to_text(format));
        std::array<Seconds, sizes.size()> reading, writing;  // of a sample, beyond plain calls
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const auto count = static_cast<double>(sizes[i].count);
            const fs::path at = folder_.path() / (name + std::to_string(sizes[i].bytes));
            const bool packed = format != DataFormat::files;
            const Sample sample{random_bytes(sizes[i].bytes), {sizes[i].bytes}, 0};
            writing[i] = time_of([&] { write(format_named(name), at, sample, sizes[i].count); }) / count - plain_writing(sizes[i], packed);
            reading[i] = read(at, sizes[i]) - plain_reading(sizes[i], packed);
            fs::remove_all(at);
        }
        FormatSpeed& speed = speeds_.formats[name];
        split(writing, speed.write, speed.write_bytes);
        split(reading, speed.read, speed.read_bytes);
        done();
    }

    // A line through both.
    void split(const std::array<Seconds, sizes.size()>& of, std::optional<Sourced<Seconds>>& each,
               std::optional<Sourced<Bandwidth>>& bytes) const {
        const Seconds of_byte = (of[1] - of[0]) / static_cast<double>(sizes[1].bytes - sizes[0].bytes);
        if (of_byte > 1e-6 * us) bytes = measured(1 * B / of_byte);  // a TB a second is none
        const Seconds left = bytes ? of[0] - static_cast<double>(sizes[0].bytes) * of_byte : of[0];
        each = measured(max(left, 0.1 * us));
    }

    static Blob random_bytes(std::int64_t bytes) {
        Blob blob(static_cast<std::size_t>(bytes));
        std::mt19937_64 random(1);
        for (std::uint8_t& b : blob) b = static_cast<std::uint8_t>(random());
        return blob;
    }
    static void write(const DatasetFormat& format, const fs::path& at, const Sample& sample, std::int64_t count) {
        fs::remove_all(at);
        const std::unique_ptr<DatasetWriter> writer = format.create(at, {count, SampleEncoding::raw, sample.extents});
        for (std::int64_t i = 0; i < count; ++i) writer->append(sample);
        writer->finish();
    }
    // As a loader does, in any order: their values one behind the other.
    static Seconds read(const fs::path& at, const SizeOfSamples& size) {
        const std::unique_ptr<DatasetReader> reader = open_dataset(at);
        const std::vector<std::int64_t> order = epoch_order(size.count, {}, 0);
        Sample sample;
        Blob batch;
        const Seconds all = time_of([&] {
            for (std::size_t i = 0; i < order.size(); ++i) {
                if (i % of_batch == 0) batch.clear();
                reader->read(order[i], sample);
                append_bytes(batch, decode(sample).values);
            }
        });
        return all / static_cast<double>(size.count);
    }

    Seconds plain_writing(const SizeOfSamples& size, bool packed) const {
        const Blob bytes = random_bytes(size.bytes);
        const fs::path at = folder_.path() / "plain";
        const Seconds all = time_of([&] {
            fs::remove_all(at);
            if (!packed) fs::create_directory(at);
            Descriptor file;
            for (std::int64_t i = 0; i < size.count; ++i) {
                if (i == 0 || !packed) file = created(packed ? at : at / std::to_string(i));
                write_all(file, bytes, at);
            }
        });
        return all / static_cast<double>(size.count);
    }
    // Reads what plain_writing wrote.
    Seconds plain_reading(const SizeOfSamples& size, bool packed) const {
        const fs::path at = folder_.path() / "plain";
        Blob bytes(static_cast<std::size_t>(size.bytes));
        const std::vector<std::int64_t> order = epoch_order(size.count, {}, 0);
        const Seconds all = time_of([&] {
            std::optional<InputFile> file;
            for (const std::int64_t i : order) {
                if (!file || !packed) file.emplace(packed ? at : at / std::to_string(i));
                file->read(packed ? static_cast<std::uint64_t>(i * size.bytes) : 0, bytes);
            }
        });
        return all / static_cast<double>(size.count);
    }
    static Descriptor created(const fs::path& path) {
        Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        if (file.number() < 0) throw BackendError("cannot write " + path.string() + ": " + std::strerror(errno));
        return file;
    }

    ProbeFolder folder_;
    std::string source_;
    const SamplesDone& progress_;
    SampleSpeeds speeds_;
    std::int64_t done_ = 0;
};

}  // namespace

SampleSpeeds probe_samples(const fs::path& folder, const std::string& source, const SamplesDone& progress) {
    return SampleProber(folder, source, progress).run();
}

}  // namespace sextant
