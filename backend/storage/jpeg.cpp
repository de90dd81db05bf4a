#include "backend/storage/codec.hpp"
#include "backend/storage/dataset.hpp"
#include "backend/storage/file.hpp"

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

namespace sextant {
namespace {

constexpr int quality = 90;

// libjpeg reports an error by a call that must not come back: the functions below jump out of it. Whatever they jump over has no
// destructor.
struct Problems {
    jpeg_error_mgr manager{};
    std::jmp_buf out{};
    std::array<char, JMSG_LENGTH_MAX> message{};
};

void leave(j_common_ptr codec) {
    auto* problems = reinterpret_cast<Problems*>(codec->err);
    codec->err->format_message(codec, problems->message.data());
    std::longjmp(problems->out, 1);  // NOLINT(cert-err52-cpp): the library's interface
}

// A warning is of a file that is damaged: what libjpeg would show in place of what is missing is not the sample.
void take_for_error(j_common_ptr codec, int level) {
    if (level < 0) leave(codec);
}

void set_up(Problems& problems) {
    jpeg_std_error(&problems.manager);
    problems.manager.error_exit = leave;
    problems.manager.emit_message = take_for_error;
}

struct Decoder {
    jpeg_decompress_struct codec{};
    Problems problems;
    Decoder() = default;
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    ~Decoder() { jpeg_destroy_decompress(&codec); }

    // Both say whether it went well.
    bool begin(BlobView file) {
        codec.err = &problems.manager;
        if (setjmp(problems.out) != 0) return false;
        jpeg_create_decompress(&codec);
        jpeg_mem_src(&codec, file.data(), file.size());
        jpeg_read_header(&codec, TRUE);
        codec.out_color_space = codec.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
        jpeg_calc_output_dimensions(&codec);
        return true;
    }
    bool finish(std::uint8_t* into) {
        if (setjmp(problems.out) != 0) return false;
        jpeg_start_decompress(&codec);
        const std::size_t row = std::size_t{codec.output_width} * static_cast<std::size_t>(codec.output_components);
        while (codec.output_scanline < codec.output_height) {
            JSAMPROW line = into + codec.output_scanline * row;
            jpeg_read_scanlines(&codec, &line, 1);
        }
        jpeg_finish_decompress(&codec);
        return true;
    }
};

struct Encoder {
    jpeg_compress_struct codec{};
    Problems problems;
    unsigned char* file = nullptr;
    unsigned long bytes = 0;  // NOLINT(google-runtime-int): the library's type
    Encoder() = default;
    Encoder(const Encoder&) = delete;
    Encoder& operator=(const Encoder&) = delete;
    ~Encoder() {
        jpeg_destroy_compress(&codec);
        std::free(file);  // NOLINT(cppcoreguidelines-no-malloc): the library allocated it
    }

    bool run(const ByteArray& image) {
        codec.err = &problems.manager;
        if (setjmp(problems.out) != 0) return false;
        jpeg_create_compress(&codec);
        jpeg_mem_dest(&codec, &file, &bytes);
        codec.image_height = static_cast<JDIMENSION>(image.extents[0]);
        codec.image_width = static_cast<JDIMENSION>(image.extents[1]);
        codec.input_components = static_cast<int>(image.extents[2]);
        codec.in_color_space = image.extents[2] == 3 ? JCS_RGB : JCS_GRAYSCALE;
        jpeg_set_defaults(&codec);
        jpeg_set_quality(&codec, quality, TRUE);
        jpeg_start_compress(&codec, TRUE);
        const std::size_t row = std::size_t{codec.image_width} * static_cast<std::size_t>(codec.input_components);
        while (codec.next_scanline < codec.image_height) {
            auto* line = const_cast<JSAMPROW>(image.values.data() + codec.next_scanline * row);
            jpeg_write_scanlines(&codec, &line, 1);
        }
        jpeg_finish_compress(&codec);
        return true;
    }
};

[[noreturn]] void refuse(const Problems& problems) { throw_damage(std::string("it is no whole JPEG: ") + problems.message.data()); }

}  // namespace

ByteArray decode_jpeg(BlobView file) {
    Decoder decoder;
    set_up(decoder.problems);
    if (!decoder.begin(file)) refuse(decoder.problems);
    const ::jpeg_decompress_struct& codec = decoder.codec;
    const std::int64_t channels = codec.out_color_space == JCS_GRAYSCALE ? 1 : 3;
    check_sample_size(std::uint64_t{codec.output_width} * codec.output_height * static_cast<std::uint64_t>(channels));
    ByteArray image{{codec.output_height, codec.output_width, channels}, {}};
    image.values.resize(static_cast<std::size_t>(elements(image.extents)));
    if (!decoder.finish(image.values.data())) refuse(decoder.problems);
    return image;
}

Blob encode_jpeg(const ByteArray& image) {
    Encoder encoder;
    set_up(encoder.problems);
    if (!encoder.run(image)) refuse(encoder.problems);
    return Blob(encoder.file, encoder.file + encoder.bytes);
}

}  // namespace sextant
