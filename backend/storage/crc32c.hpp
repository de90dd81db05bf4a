// CRC-32C (Castagnoli; RFC 3720, section 12.1), eight bytes at a time by tables, and how TFRecord masks it.
#pragma once

#include "backend/storage/sample.hpp"

namespace sextant {

std::uint32_t crc32c(BlobView);
// "Masked", so that a checksum over data with checksums in it is none of zero.
std::uint32_t masked_crc32c(BlobView);

}  // namespace sextant
