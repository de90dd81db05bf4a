// Variants of published runs: what --set changes of a row.
#include "model/sextant.hpp"

#include "model/io/measurement/published_document.hpp"
#include "model/io/report/report_writer.hpp"

#include <filesystem>

namespace sextant {
namespace {

const std::string folder = SEXTANT_SOURCE_DIR "/measurements/";

Scenario published(const std::string& row, const std::vector<std::string>& overrides = {}) {
    Library library = open_library();
    return load_scenario(library, folder + row, overrides);
}

// Of each source the first run and some of the others.
TEST(PublishedDocument, IsTheRunWhereNothingOfItIsChanged) {
    Library library = open_library();
    const MeasurementSources names = measurement_sources(library);
    int runs = 0;
    for (const std::filesystem::path& path : bundled_measurements(library)) {
        Diagnostics diagnostics;
        const MeasurementFile file = load_measurements(path, diagnostics);
        for (std::size_t i = 0; i < file.rows.size(); i += 50) {
            const auto* row = std::get_if<TrainingRow>(&file.rows[i]);
            if (!row || !row->header.counted()) continue;
            Scenario run;
            try {
                run = to_scenario(*row, names);
                static_cast<void>(prepare(run));
            } catch (const InputError&) {
                continue;
            }
            ++runs;
            const Predictable again = published_job(library, path, row->header.id, {"description=the same"});
            EXPECT_EQ(report_to_json(predict(std::get<Scenario>(again))), report_to_json(predict(run))) << row->header.id;
        }
    }
    EXPECT_GT(runs, 40);
}

TEST(PublishedDocument, FillsTheSameDevicesWhereADegreeChanges) {
    // 384 devices as 8 copies of tp 8 x pp 6: with tp 2 they hold 384 / (2 x 6) = 32.
    const std::string row = "transformer/bloom_jeanzay_a100.json#bloom-jz-l478";
    EXPECT_EQ(published(row).plan.dp, 8);
    EXPECT_EQ(published(row, {"plan.tp=2"}).plan.dp, 32);
    EXPECT_EQ(published(row, {"workload.seq_len=4096"}).workload.name, published(row).workload.name);
}

TEST(PublishedDocument, IsRefusedForABenchmarkOfStorage) {
    const std::string row = "loading/mlperf_storage_v1_0.json#mlperf_storage-0000";
    try {
        published(row, {"workload.batch_size=4"});
        ADD_FAILURE();
    } catch (const InputError& e) {
        EXPECT_EQ(e.diagnostics().front().what, "nothing can be set in a published benchmark of storage");
    }
}

}  // namespace
}  // namespace sextant
