// TFRecord (tensorflow/core/lib/io/record_writer.h): of each record its length (8 bytes), the masked CRC-32C of that, its bytes, the masked
// CRC-32C of these. It has no table of contents: who wants a sample by number must first go from length to length.
#include "backend/storage/crc32c.hpp"
#include "backend/storage/example_record.hpp"
#include "backend/storage/file.hpp"
#include "backend/storage/formats.hpp"

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t length_bytes = 8, checksum_bytes = 4, head_bytes = length_bytes + checksum_bytes;

bool is_head(BlobView head) {
    return head.size() >= head_bytes && masked_crc32c(head.first(length_bytes)) == integer_at<std::uint32_t>(head, length_bytes);
}

struct Record {
    std::uint64_t at = 0, bytes = 0;
};

class TfrecordReader final : public DatasetReader {
public:
    explicit TfrecordReader(const fs::path& path) : path_(path.string()), file_(path) {
        std::uint64_t at = 0;
        while (at < file_.size()) {
            const Blob head = file_.read(at, head_bytes);
            if (!is_head(head)) throw_damage("the length of record " + std::to_string(records_.size()) + " has a wrong checksum");
            const auto bytes = integer_at<std::uint64_t>(head, 0);
            at += head_bytes;
            if (bytes > file_.size() - at || file_.size() - at - bytes < checksum_bytes)
                throw_damage("record " + std::to_string(records_.size()) + " is cut off", "was it copied whole?");
            records_.push_back({at, bytes});
            at += bytes + checksum_bytes;
        }
    }

    [[nodiscard]] std::int64_t count() const override { return static_cast<std::int64_t>(records_.size()); }
    [[nodiscard]] std::string name(std::int64_t index) const override { return path_ + ": record " + std::to_string(index); }

private:
    void read_sample(std::int64_t index, Sample& into) const override {
        const Record& record = records_[static_cast<std::size_t>(index)];
        check_sample_size(record.bytes);
        const Blob bytes = file_.read(record.at, record.bytes + checksum_bytes);
        const BlobView content = BlobView(bytes).first(record.bytes);
        if (masked_crc32c(content) != integer_at<std::uint32_t>(bytes, record.bytes)) throw_damage("its checksum is wrong");
        read_example(content, into);
    }

    std::string path_;
    InputFile file_;
    std::vector<Record> records_;
};

class TfrecordWriter final : public DatasetWriter {
public:
    explicit TfrecordWriter(const fs::path& path) : file_(path) {}

    void append(const Sample& sample) override {
        const Blob record = example_record(sample);
        Blob frame;
        append_integer<std::uint64_t>(frame, record.size());
        append_integer(frame, masked_crc32c(frame));
        file_.write(frame);
        file_.write(record);
        frame.clear();
        append_integer(frame, masked_crc32c(record));
        file_.write(frame);
    }
    void finish() override { file_.finish(); }

private:
    OutputFile file_;
};

}  // namespace

// Records of tf.train.Example, one behind the other, each with checksums.
const DatasetFormat& tfrecord_format() {
    static const DatasetFormat format = {
        "tfrecord", false, is_head,
        [](const fs::path& path) -> std::unique_ptr<DatasetReader> { return std::make_unique<TfrecordReader>(path); },
        [](const fs::path& path, const Outline&) -> std::unique_ptr<DatasetWriter> { return std::make_unique<TfrecordWriter>(path); }};
    return format;
}

}  // namespace sextant
