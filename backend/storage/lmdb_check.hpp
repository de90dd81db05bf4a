// LMDB maps its file into memory and follows the page numbers in it unchecked, so a damaged file crashes it. Therefore the tree is checked
// before LMDB opens the file.
#pragma once

#include "backend/storage/file.hpp"

namespace sextant {

// Reads every page except those that hold only a large value. Throws InputError, without a file name, on anything that would mislead LMDB.
void check_lmdb(const InputFile&);

bool is_lmdb(BlobView start);

}  // namespace sextant
