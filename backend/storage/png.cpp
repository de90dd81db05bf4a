#include "backend/storage/codec.hpp"
#include "backend/storage/dataset.hpp"
#include "backend/storage/file.hpp"

#include <png.h>

namespace sextant {
namespace {

// What the simplified interface of libpng holds, freed when it goes.
struct PngImage {
    png_image state{};
    PngImage() { state.version = PNG_IMAGE_VERSION; }
    PngImage(const PngImage&) = delete;
    PngImage& operator=(const PngImage&) = delete;
    ~PngImage() { png_image_free(&state); }
    [[noreturn]] void refuse() const { throw_damage(std::string("it is no whole PNG: ") + state.message); }
};

}  // namespace

ByteArray decode_png(BlobView file) {
    PngImage png;
    if (png_image_begin_read_from_memory(&png.state, file.data(), file.size()) == 0) png.refuse();
    const bool colour = (png.state.format & PNG_FORMAT_FLAG_COLOR) != 0;
    png.state.format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    const std::int64_t channels = colour ? 3 : 1;
    check_sample_size(std::uint64_t{png.state.width} * png.state.height * static_cast<std::uint64_t>(channels));
    ByteArray image{{png.state.height, png.state.width, channels}, {}};
    image.values.resize(static_cast<std::size_t>(elements(image.extents)));
    const png_color black{};  // behind what is transparent
    if (png_image_finish_read(&png.state, &black, image.values.data(), 0, nullptr) == 0 || png.state.warning_or_error != 0) png.refuse();
    return image;
}

Blob encode_png(const ByteArray& image) {
    PngImage png;
    png.state.height = static_cast<png_uint_32>(image.extents[0]);
    png.state.width = static_cast<png_uint_32>(image.extents[1]);
    png.state.format = image.extents[2] == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(png.state);
    Blob file(bytes);
    if (png_image_write_to_memory(&png.state, file.data(), &bytes, 0, image.values.data(), 0, nullptr) == 0) png.refuse();
    file.resize(bytes);
    return file;
}

}  // namespace sextant
