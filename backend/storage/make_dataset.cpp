#include "backend/storage/make_dataset.hpp"

#include "backend/storage/codec.hpp"
#include "backend/storage/formats.hpp"
#include "backend/storage/learnable_samples.hpp"
#include "backend/storage/replace_dataset.hpp"
#include "backend/storage/storage_kind.hpp"
#include "model/base/diagnostics.hpp"

namespace sextant {
namespace {

namespace fs = std::filesystem;

void check_encoding(const DatasetFormat& format, SampleEncoding encoding) {
    if (format.arrays_only && encoding != SampleEncoding::raw)
        throw InputError(Diagnostic{
            "--encoding", "", std::string(format.name) + " holds arrays of one shape, and no " + std::string(to_text(encoding)) + " files",
            "--encoding raw, or another format"});
}

bool has_codec(const Extents& extents) { return extents.size() == 3 && (extents[2] == 1 || extents[2] == 3); }

void check_room_for(const fs::path& dataset, std::int64_t samples, std::size_t bytes_of_one, std::string hint) {
    const fs::path folder = fs::absolute(dataset).parent_path();
    if (fs::is_directory(folder))  // else it cannot be written there, and who tries says why
        check_room(folder, static_cast<double>(samples) * static_cast<double>(bytes_of_one) * units::B, std::move(hint));
}

// A sample as it is to be written.
class Converter {
public:
    Converter(const DatasetReader& reader, const ConvertSettings& settings, SampleEncoding encoding)
        : reader_(reader), settings_(settings), encoding_(encoding) {}

    Sample operator()(std::int64_t index) {
        Sample sample;
        reader_.read(index, sample);
        naming([&] { return reader_.name(index); }, [&] { sample = converted(std::move(sample)); });
        return sample;
    }
    [[nodiscard]] const Extents& extents() const { return extents_; }  // of the first

private:
    Sample converted(Sample sample) {
        // What is already as it should be is passed on as it is, and only looked at.
        ByteArray array = decode(sample);
        const bool same = !settings_.resize && encoding_ != SampleEncoding::raw && encoding_of(sample) == encoding_;
        if (settings_.resize) {
            if (array.extents.size() != 3) throw_damage(to_text(array.extents) + " is no image that could be resized");
            array = sextant::resize(array, settings_.resize->height, settings_.resize->width);
        }
        if (extents_.empty()) extents_ = array.extents;
        if (encoding_ == SampleEncoding::raw && array.extents != extents_)
            throw_damage("it is " + to_text(array.extents) + ", and the first sample " + to_text(extents_), "--resize makes them alike");
        return same ? std::move(sample) : encode(array, sample.label, encoding_);
    }

    const DatasetReader& reader_;
    const ConvertSettings& settings_;
    SampleEncoding encoding_;
    Extents extents_;
};

SampleEncoding encoding_at(const DatasetReader& reader, const DatasetFormat& format) {
    if (format.arrays_only) return SampleEncoding::raw;
    Sample first;
    for (std::int64_t i = 0;; ++i) {
        try {
            reader.read(i, first);
            break;
        } catch (const InputError&) {
            if (i + 1 == reader.count()) throw;
        }
    }
    return encoding_of(first);
}

}  // namespace

Written make_dataset(const MakeSettings& s, const SamplesDone& progress) {
    const DatasetFormat& format = format_named(s.format);
    const SampleEncoding usual = format.arrays_only || !has_codec(s.extents) ? SampleEncoding::raw : SampleEncoding::jpeg;
    const Outline outline{s.samples, s.encoding.value_or(usual), s.extents};
    check_encoding(format, outline.encoding);
    if (outline.encoding != SampleEncoding::raw && !has_codec(s.extents))
        throw InputError(Diagnostic{"--size", "", to_text(s.extents) + " is no image of one or three channels", "--encoding raw"});
    const LearnableSamples samples(s.extents, s.classes, s.seed);
    const auto sample_at = [&](std::int64_t i) {
        Sample sample = samples.sample(i);
        return outline.encoding == SampleEncoding::raw ? sample
                                                       : encode({sample.extents, std::move(sample.bytes)}, sample.label, outline.encoding);
    };
    replace_dataset(s.out, [&](const fs::path& aside) {
        // They are nearly of one size.
        check_room_for(aside, s.samples, sample_at(0).bytes.size(), "fewer --samples, a smaller --size, or another disk");
        const std::unique_ptr<DatasetWriter> writer = format.create(aside, outline);
        for (std::int64_t i = 0; i < s.samples; ++i) {
            writer->append(sample_at(i));
            progress(i + 1, s.samples);
        }
        writer->finish();
    });
    return {s.samples, {}};
}

Written convert_dataset(const ConvertSettings& s, const SamplesDone& progress) {
    const DatasetFormat& format = format_named(s.format);
    const std::unique_ptr<DatasetReader> reader = open_dataset(s.in);
    const SampleEncoding encoding = s.encoding ? *s.encoding : encoding_at(*reader, format);
    check_encoding(format, encoding);
    Converter converter(*reader, s, encoding);
    Written written;
    // An array's size stands before it: so bad samples must be known by then.
    std::vector<std::int64_t> good;
    const bool looks_first = s.bad == BadSamples::skip;
    std::optional<Sample> first;
    for (std::int64_t i = 0; i < reader->count(); ++i) {
        try {
            if (looks_first || !first) {
                progress(0, reader->count());
                Sample sample = converter(i);
                if (!first) first = std::move(sample);
            }
            good.push_back(i);
        } catch (const InputError& e) {
            if (s.bad == BadSamples::fail) throw;
            written.skipped.emplace_back(e.what());
        }
    }
    if (good.empty()) throw InputError(Diagnostic{s.in.string(), "", "none of its samples is good", written.skipped.front()});
    written.samples = static_cast<std::int64_t>(good.size());
    replace_dataset(s.out, [&](const fs::path& aside) {
        if (encoding == SampleEncoding::raw)  // all are of the first one's size
            check_room_for(aside, written.samples, first->bytes.size(), "encoded they take less, and --resize makes them smaller");
        const std::unique_ptr<DatasetWriter> writer = format.create(aside, {written.samples, encoding, converter.extents()});
        for (std::int64_t done = 0; done < written.samples; ++done) {
            writer->append(converter(good[static_cast<std::size_t>(done)]));
            progress(done + 1, written.samples);
        }
        writer->finish();
    });
    return written;
}

}  // namespace sextant
