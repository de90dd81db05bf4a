#include "backend/storage/codec.hpp"

#include "backend/storage/dataset.hpp"
#include "backend/storage/file.hpp"
#include "backend/storage/npy.hpp"

namespace sextant {
namespace {

bool is_image(const Extents& e) { return e.size() == 3 && (e[2] == 1 || e[2] == 3); }

ByteArray decode_npy(BlobView file) {
    const NpyHeader header = npy_header(file);
    if (header.record) throw_damage("it holds records, where a sample is one array");
    check_sample_size(header.value_bytes());
    if (file.size() - header.header_bytes != header.value_bytes())
        throw_damage("it has " + std::to_string(file.size() - header.header_bytes) + " bytes of values, and its header promises " +
                     std::to_string(header.value_bytes()));
    const BlobView values = file.subspan(header.header_bytes);
    return {header.extents, Blob(values.begin(), values.end())};
}

}  // namespace

std::optional<SampleEncoding> encoding_of(BlobView file) {
    const std::string_view text = text_of(file);
    if (text.starts_with("\x89PNG")) return SampleEncoding::png;
    if (text.starts_with("\xff\xd8\xff")) return SampleEncoding::jpeg;
    if (is_npy(file)) return SampleEncoding::raw;
    return std::nullopt;
}

SampleEncoding encoding_of(const Sample& sample) {
    return sample.extents.empty() ? encoding_of(sample.bytes).value_or(SampleEncoding::raw) : SampleEncoding::raw;
}

ByteArray decode(const Sample& sample) {
    if (!sample.extents.empty()) return {sample.extents, sample.bytes};
    const std::optional<SampleEncoding> encoding = encoding_of(sample.bytes);
    if (!encoding) throw_damage("it is neither PNG, JPEG nor .npy, by how it begins");
    switch (*encoding) {
        case SampleEncoding::png: return decode_png(sample.bytes);
        case SampleEncoding::jpeg: return decode_jpeg(sample.bytes);
        case SampleEncoding::raw: break;
    }
    return decode_npy(sample.bytes);
}

Sample encode(const ByteArray& array, std::int64_t label, SampleEncoding encoding) {
    if (encoding == SampleEncoding::raw) return {array.values, array.extents, label};
    if (!is_image(array.extents)) throw_damage(to_text(array.extents) + " is no image of one or three channels", "--encoding raw");
    return {encoding == SampleEncoding::png ? encode_png(array) : encode_jpeg(array), {}, label};
}

}  // namespace sextant
