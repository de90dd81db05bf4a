#include "backend/storage/npy.hpp"

#include "backend/storage/dataset.hpp"
#include "backend/storage/file.hpp"
#include "backend/storage/records.hpp"

#include <charconv>

namespace sextant {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t preamble = 10;  // magic, two bytes of version, two of length

[[noreturn]] void not_ours() {
    throw_damage("its header describes no array that is read here",
                 "an array of bytes (dtype uint8, C order), or records of ('image', uint8 of a shape) and ('label', int64)");
}

// The header's text, taken apart from the front.
class Text {
public:
    explicit Text(std::string_view text) : rest_(text) {}

    bool take(std::string_view word) {
        while (rest_.starts_with(' ')) rest_.remove_prefix(1);
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    void need(std::string_view word) {
        if (!take(word)) not_ours();
    }
    // "(3,)", "(32, 32, 3)"
    Extents tuple() {
        Extents extents;
        need("(");
        while (!take(")")) {
            while (rest_.starts_with(' ')) rest_.remove_prefix(1);
            std::int64_t extent = 0;
            const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
            if (error != std::errc() || extent < 0) not_ours();
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            extents.push_back(extent);
            if (take(",")) continue;
            need(")");
            break;
        }
        return extents;
    }

private:
    std::string_view rest_;
};

std::optional<Extents> record_in(Text& text) {
    text.need("'descr':");
    if (text.take("'|u1',") || text.take("'u1',")) return std::nullopt;
    for (const std::string_view word : {"[", "(", "'image',", "'|u1',"}) text.need(word);
    Extents image = text.tuple();
    for (const std::string_view word : {")", ",", "(", "'label',", "'<i8'", ")", "]", ","}) text.need(word);
    return image;
}

std::uint64_t checked_bytes(const Extents& extents) {
    double bytes = 1;
    for (const std::int64_t extent : extents) bytes *= static_cast<double>(extent);
    if (bytes > 0x1p62) not_ours();
    return static_cast<std::uint64_t>(elements(extents));
}

std::string tuple_text(const Extents& extents) {
    std::string text = "(";
    for (std::size_t i = 0; i < extents.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(extents[i]);
    return text + (extents.size() == 1 ? ",)" : ")");
}

Blob header_of(const std::string& descr, const std::string& shape) {
    std::string dictionary = "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }";
    const std::size_t bytes = (preamble + dictionary.size() + 1 + 63) / 64 * 64;
    dictionary.resize(bytes - preamble - 1, ' ');
    dictionary += '\n';
    Blob header;
    append_bytes(header, view_of(magic));
    append_integer<std::uint16_t>(header, 1);  // version 1.0
    append_integer(header, static_cast<std::uint16_t>(dictionary.size()));
    append_bytes(header, view_of(dictionary));
    return header;
}

}  // namespace

bool is_npy(BlobView start) { return text_of(start).starts_with(magic); }

std::uint64_t NpyHeader::value_bytes() const {
    return static_cast<std::uint64_t>(elements(extents)) * (record ? static_cast<std::uint64_t>(elements(*record)) + label_bytes : 1);
}

NpyHeader npy_header(BlobView start) {
    if (!is_npy(start) || start.size() < preamble) throw_damage("it does not begin as a .npy file does");
    if (integer_at<std::uint16_t>(start, 6) != 1) throw_damage("it is a .npy file of another version than 1.0");
    NpyHeader header;
    header.header_bytes = preamble + integer_at<std::uint16_t>(start, 8);
    if (start.size() < header.header_bytes) throw_damage("it ends within its header", "was it copied whole?");
    Text text(text_of(start.subspan(preamble, header.header_bytes - preamble)));
    text.need("{");
    header.record = record_in(text);
    text.need("'fortran_order':");
    text.need("False,");
    text.need("'shape':");
    header.extents = text.tuple();
    if (header.record) check_sample_size(checked_bytes(*header.record));
    if (header.extents.empty() || (header.record && header.extents.size() != 1)) not_ours();
    if (checked_bytes(header.extents) > (std::uint64_t{1} << 62) / (header.record ? checked_bytes(*header.record) + label_bytes : 1))
        not_ours();
    return header;
}

Blob npy_file(const Extents& extents, BlobView values) {
    Blob file = header_of("'|u1'", tuple_text(extents));
    append_bytes(file, values);
    return file;
}

Blob npy_records_header(std::int64_t records, const Extents& image) {
    return header_of("[('image', '|u1', " + tuple_text(image) + "), ('label', '<i8')]", tuple_text({records}));
}

}  // namespace sextant
