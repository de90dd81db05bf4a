// Variants of published runs: what --set changes of a row.
#include "model/sextant.hpp"

#include "model/io/report/report_writer.hpp"
#include "tests/base/refusal.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>

namespace sextant {
namespace {

const std::string folder = SEXTANT_SOURCE_DIR "/measurements/";

Scenario published(const std::string& row, const std::vector<std::string>& overrides = {}) {
    Library library = open_library();
    return load_scenario(library, folder + row, overrides);
}

// Numbers but for the nine digits that a profile writes: 256 GiB are 274,877,907,000 bytes there.
void expect_same(const nlohmann::json& is, const nlohmann::json& expected, const std::string& what) {
    ASSERT_EQ(is.type(), expected.type()) << what;
    if (is.is_number_float()) {
        EXPECT_NEAR(is.get<double>(), expected.get<double>(), 1e-8 * std::abs(expected.get<double>())) << what;
    } else if (is.is_structured()) {
        ASSERT_EQ(is.size(), expected.size()) << what;
        for (auto a = is.begin(), b = expected.begin(); a != is.end(); ++a, ++b)
            expect_same(*a, *b, what + (is.is_object() ? " " + a.key() : ""));
    } else {
        EXPECT_EQ(is, expected) << what;
    }
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
            const Scenario again = load_scenario(library, open_scenario(library, path.string() + "#" + row->header.id));
            const auto report = [](const Scenario& s) { return nlohmann::json::parse(report_to_json(predict(s))); };
            expect_same(report(again), report(run), row->header.id);
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

// Table 5 of Korthikanti et al. 2022: 22B with full recompute, 1.42 s a step.
TEST(PublishedDocument, IsSavedWithItsMachineAndNetworkWithin) {
    Library library = open_library();
    const PublishedRun run = published_run(library, folder + "transformer/korthikanti2022.json", "korthikanti-table5-22B-full");
    EXPECT_NEAR(run.step->si(), 1.42, 0.005);
    const ScenarioDocument changed = edited(edited(run.document, "plan.tp", "4"), "plan.global_batch", "8");
    const ScenarioDocument elsewhere{"/elsewhere/saved.json", text_of(changed), {}};
    const Scenario saved = load_scenario(library, elsewhere);
    EXPECT_EQ(saved.plan.tp, 4);
    EXPECT_EQ(saved.plan.dp, 2);  // of the 8 devices
    EXPECT_EQ(std::get<TransformerSpec>(saved.workload.spec).hidden, 6144);
}

TEST(PublishedDocument, IsRefusedForABenchmarkOfStorage) {
    const std::string row = "loading/mlperf_storage_v1_0.json#mlperf_storage-0000";
    EXPECT_THAT(refusal_by([&] { return published(row, {"workload.batch_size=4"}); }),
                testing::HasSubstr("a published benchmark of storage is no scenario"));
}

}  // namespace
}  // namespace sextant
