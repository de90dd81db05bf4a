// Small datasets in a folder of their own.
#pragma once

#include "backend/storage/formats.hpp"
#include "backend/storage/make_dataset.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sextant {

struct DatasetKind {
    std::string format;
    SampleEncoding encoding = SampleEncoding::raw;
};
std::vector<DatasetKind> dataset_kinds();  // every format with every encoding that it takes
void PrintTo(const DatasetKind&, std::ostream*);
std::string test_name(const testing::TestParamInfo<DatasetKind>&);

class DatasetTest : public testing::Test {
protected:
    DatasetTest();
    ~DatasetTest() override;

    [[nodiscard]] std::filesystem::path at(const std::string& name) const { return folder_ / name; }
    // 20 images of 8x6x3 unless said.
    std::filesystem::path make(const std::string& name, const DatasetKind&, std::int64_t samples = 20, const Extents& = {8, 6, 3}) const;

private:
    std::filesystem::path folder_;
};

std::string bytes_of(const std::filesystem::path& file);
void write_bytes(const std::filesystem::path& file, std::string_view bytes);
std::vector<Sample> samples_of(const DatasetReader&);
// Names and bytes of all files below a folder, or the bytes of a file.
std::string everything_in(const std::filesystem::path&);
void no_progress(std::int64_t, std::int64_t);

}  // namespace sextant
