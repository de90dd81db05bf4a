// Nothing but the samples, each with its label behind it, after a page that says in words how many and how large: what the disk can do.
#include "backend/storage/formats.hpp"
#include "backend/storage/records.hpp"
#include "model/base/parse_number.hpp"

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "sextant raw dataset 1\n", samples_word = "samples ", extents_word = "extents ";
constexpr std::size_t header_bytes = 4096;  // a page

// "samples 1000\nextents 32x32x3\n", then zeros.
RecordLayout layout_in(std::string_view header) {
    const auto line_behind = [&](std::string_view word) {
        if (!header.starts_with(word)) throw_damage("its header is damaged");
        header.remove_prefix(word.size());
        const auto end = header.find('\n');
        const std::string_view line = header.substr(0, end);
        header.remove_prefix(end == std::string_view::npos ? header.size() : end + 1);
        return line;
    };
    line_behind(magic.substr(0, magic.size() - 1));
    const std::string_view count = line_behind(samples_word);
    const std::optional<Extents> extents = extents_in(line_behind(extents_word));
    const auto records = parse_number<std::int64_t>(count);
    constexpr std::int64_t most = std::int64_t{1} << 32;
    if (!extents || !records || *records < 0 || *records > most) throw_damage("its header is damaged");
    return {header_bytes, *records, *extents, true};
}

}  // namespace

// The bytes of all samples and labels, one behind the other.
const DatasetFormat& raw_format() {
    static const DatasetFormat format = {
        "raw", true, [](BlobView start) { return text_of(start).starts_with(magic); },
        [](const fs::path& path) {
            InputFile file(path);
            const Blob header = file.read(0, header_bytes);
            return make_record_reader(path, std::move(file), layout_in(text_of(header)));
        },
        [](const fs::path& path, const Outline& outline) {
            Blob header;
            append_bytes(header, view_of(std::string(magic) + std::string(samples_word) + std::to_string(outline.samples) + "\n" +
                                         std::string(extents_word) + to_text(outline.extents) + "\n"));
            header.resize(header_bytes);
            return make_record_writer(path, header);
        }};
    return format;
}

}  // namespace sextant
