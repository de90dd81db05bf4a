// Writes archives with libarchive. The same samples give the same bytes.
#pragma once

#include "backend/storage/dataset.hpp"

#include <memory>

namespace sextant {

enum class ArchiveKind { tar, zip };
std::unique_ptr<DatasetWriter> make_archive_writer(ArchiveKind, const std::filesystem::path&, const Outline&);

}  // namespace sextant
