// LMDB maps its file into memory and follows the page numbers in it without a check: on a damaged file it crashes. So the tree is walked
// before it is opened.
#pragma once

#include "backend/storage/file.hpp"

namespace sextant {

// Reads every page but those that hold a large value alone. Throws InputError, without a file's name, on anything that would lead LMDB
// astray.
void check_lmdb(const InputFile&);

bool is_lmdb(BlobView start);

}  // namespace sextant
