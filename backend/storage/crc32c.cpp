#include "backend/storage/crc32c.hpp"

#include "backend/storage/file.hpp"

#include <array>

namespace sextant {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // reversed

// tables[k][b]: what byte b contributes when k more bytes follow it.
constexpr auto tables = [] {
    std::array<std::array<std::uint32_t, 256>, 8> t{};
    for (std::uint32_t b = 0; b < 256; ++b) {
        std::uint32_t c = b;
        for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? polynomial : 0);
        t[0][b] = c;
    }
    for (std::size_t k = 1; k < 8; ++k)
        for (std::size_t b = 0; b < 256; ++b) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 255];
    return t;
}();

}  // namespace

std::uint32_t crc32c(BlobView bytes) {
    std::uint32_t c = ~std::uint32_t{0};
    std::size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
        const std::uint32_t low = integer_at<std::uint32_t>(bytes, i) ^ c, high = integer_at<std::uint32_t>(bytes, i + 4);
        c = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^ tables[3][high & 255] ^
            tables[2][high >> 8 & 255] ^ tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
    }
    for (; i < bytes.size(); ++i) c = (c >> 8) ^ tables[0][(c ^ bytes[i]) & 255];
    return ~c;
}

std::uint32_t masked_crc32c(BlobView bytes) {
    const std::uint32_t c = crc32c(bytes);
    return ((c >> 15) | (c << 17)) + 0xa282ead8;
}

}  // namespace sextant
