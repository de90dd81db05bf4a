#include "backend/storage/formats.hpp"

#include "backend/storage/file.hpp"
#include "model/base/diagnostics.hpp"
#include "model/base/list_text.hpp"
#include "model/base/spelling.hpp"

#include <algorithm>

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t telling_bytes = 512;  // a tar archive says what it is in its 257th byte

std::string known_formats() { return joined(dataset_formats(), &DatasetFormat::name); }

}  // namespace

std::span<const DatasetFormat* const> dataset_formats() {
    static const std::vector<const DatasetFormat*> all = {&files_format(), &tar_format(),      &zip_format(), &hdf5_format(),
                                                          &lmdb_format(),  &tfrecord_format(), &npy_format(), &raw_format()};
    return all;
}

const DatasetFormat& format_named(std::string_view name) {
    const auto all = dataset_formats();
    const auto found = std::ranges::find(all, name, &DatasetFormat::name);
    if (found != all.end()) return **found;
    std::vector<std::string_view> names;
    for (const DatasetFormat* f : all) names.push_back(f->name);
    std::string hint = did_you_mean(nearest_names(name, names));
    if (hint.empty()) hint = "there are " + known_formats();
    throw InputError(Diagnostic{"--format", "", "\"" + std::string(name) + "\" is no format", std::move(hint)});
}

const DatasetFormat& format_at(const fs::path& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) return files_format();
    Blob start;
    naming([&] { return path.string(); }, [&] { start = InputFile(path).head(telling_bytes); });
    for (const DatasetFormat* f : dataset_formats())
        if (f->begins_so(start)) return *f;
    throw InputError(Diagnostic{path.string(), "", "it begins as no dataset does", "the formats are " + known_formats()});
}

std::unique_ptr<DatasetReader> open_dataset(const fs::path& path) {
    const DatasetFormat& format = format_at(path);
    std::unique_ptr<DatasetReader> reader;
    naming([&] { return path.string(); },
           [&] {
               reader = format.open(path);
               if (reader->count() == 0) throw_damage("there is no sample in it");
           });
    return reader;
}

}  // namespace sextant
