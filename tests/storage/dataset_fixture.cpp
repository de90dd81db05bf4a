#include "tests/storage/dataset_fixture.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace sextant {

namespace fs = std::filesystem;

std::vector<DatasetKind> dataset_kinds() {
    std::vector<DatasetKind> kinds;
    for (const DatasetFormat* f : dataset_formats())
        for (const SampleEncoding e : {SampleEncoding::raw, SampleEncoding::png, SampleEncoding::jpeg})
            if (e == SampleEncoding::raw || !f->arrays_only) kinds.push_back({std::string(f->name), e});
    return kinds;
}

void PrintTo(const DatasetKind& kind, std::ostream* out) { *out << kind.format << " " << to_text(kind.encoding); }
std::string test_name(const testing::TestParamInfo<DatasetKind>& info) {
    return info.param.format + "_" + std::string(to_text(info.param.encoding));
}

DatasetTest::DatasetTest() {
    std::string name = testing::TempDir() + "sextant-data-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test");
    folder_ = name;
}
DatasetTest::~DatasetTest() {
    std::error_code none;
    fs::remove_all(folder_, none);
}

fs::path DatasetTest::make(const std::string& name, const DatasetKind& kind, std::int64_t samples, const Extents& extents) const {
    make_dataset({at(name), kind.format, kind.encoding, samples, 5, extents, 1}, no_progress);
    return at(name);
}

std::string bytes_of(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

void write_bytes(const fs::path& file, std::string_view bytes) { std::ofstream(file, std::ios::binary) << bytes; }

std::vector<Sample> samples_of(const DatasetReader& reader) {
    std::vector<Sample> samples(static_cast<std::size_t>(reader.count()));
    for (std::size_t i = 0; i < samples.size(); ++i) reader.read(static_cast<std::int64_t>(i), samples[i]);
    return samples;
}

std::string everything_in(const fs::path& path) {
    if (fs::is_regular_file(path)) return bytes_of(path);
    std::vector<std::string> files;
    for (const fs::directory_entry& e : fs::recursive_directory_iterator(path))
        if (e.is_regular_file()) files.push_back(e.path().lexically_relative(path).string() + "\n" + bytes_of(e.path()));
    std::ranges::sort(files);
    std::string all;
    for (const std::string& f : files) all += f;
    return all;
}

void no_progress(std::int64_t, std::int64_t) {}

}  // namespace sextant
