#include "backend/storage/records.hpp"

namespace sextant {
namespace {

class RecordReader final : public DatasetReader {
public:
    RecordReader(const std::filesystem::path& path, InputFile file, RecordLayout layout)
        : path_(path.string()),
          file_(std::move(file)),
          layout_(std::move(layout)),
          value_bytes_(static_cast<std::uint64_t>(elements(layout_.extents))) {
        check_sample_size(value_bytes_);
        const std::uint64_t body = file_.size() - layout_.header_bytes,
                            promised = static_cast<std::uint64_t>(layout_.records) * record_bytes();
        if (body != promised)
            throw_damage("behind its header it has " + std::to_string(body) + " bytes, and " + std::to_string(layout_.records) +
                             " samples need " + std::to_string(promised),
                         "was it copied whole?");
    }

    [[nodiscard]] std::int64_t count() const override { return layout_.records; }
    [[nodiscard]] std::string name(std::int64_t index) const override { return path_ + ": sample " + std::to_string(index); }

private:
    [[nodiscard]] std::uint64_t record_bytes() const { return value_bytes_ + (layout_.has_labels ? label_bytes : 0); }

    void read_sample(std::int64_t index, Sample& into) const override {
        into.bytes.resize(record_bytes());
        file_.read(layout_.header_bytes + static_cast<std::uint64_t>(index) * record_bytes(), into.bytes);
        into.label = layout_.has_labels ? static_cast<std::int64_t>(integer_at<std::uint64_t>(into.bytes, value_bytes_)) : 0;
        into.bytes.resize(value_bytes_);
        into.extents = layout_.extents;
    }

    std::string path_;
    InputFile file_;
    RecordLayout layout_;
    std::uint64_t value_bytes_;
};

class RecordWriter final : public DatasetWriter {
public:
    RecordWriter(const std::filesystem::path& path, const Blob& header) : file_(path) { file_.write(header); }

    void append(const Sample& sample) override {
        Blob label;
        append_integer(label, static_cast<std::uint64_t>(sample.label));
        file_.write(sample.bytes);
        file_.write(label);
    }
    void finish() override { file_.finish(); }

private:
    OutputFile file_;
};

}  // namespace

std::unique_ptr<DatasetReader> make_record_reader(const std::filesystem::path& path, InputFile file, RecordLayout layout) {
    return std::make_unique<RecordReader>(path, std::move(file), std::move(layout));
}

std::unique_ptr<DatasetWriter> make_record_writer(const std::filesystem::path& path, const Blob& header) {
    return std::make_unique<RecordWriter>(path, header);
}

}  // namespace sextant
