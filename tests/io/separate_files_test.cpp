#include "model/io/format/separate_files.hpp"
#include "model/base/diagnostics.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/format/text_file.hpp"
#include "model/sextant.hpp"
#include "tests/temporary_folder.hpp"

namespace sextant {
namespace {

using SeparateFiles = TemporaryFolder;

TEST_F(SeparateFiles, AreSoByWhateverNameTheyAreWritten) {
    const auto read = folder_ / "read", packed = folder_ / "packed", link = folder_ / "link", other = folder_ / "other";
    for (const auto& file : {read, packed, other}) replace_text_file(file, "{}");
    std::filesystem::create_symlink(read, link);
    Diagnostics problems;
    static_cast<void>(read_text_file(read, problems));
    static_cast<void>(read_packed_text(packed, problems));
    for (const auto& file : {read, packed, link, folder_ / "." / "read"})
        EXPECT_THROW(check_apart({file}, problems.files()), InputError) << file;
    EXPECT_NO_THROW(check_apart({other, folder_ / "new"}, problems.files()));
}

TEST_F(SeparateFiles, AreNotWrittenTwiceEither) {
    EXPECT_THROW(check_apart({folder_ / "new", folder_ / "." / "new"}), InputError);
    EXPECT_NO_THROW(check_apart({folder_ / "a", folder_ / "b", "", "", "/dev/null", "/dev/null"}, {"/dev/null"}));
}

// The scenario, the cluster that it names by name, and the network that it names as a file.
TEST_F(SeparateFiles, ALibraryKnowsWhatAScenarioWasReadFrom) {
    const auto network = folder_ / "network.json", scenario = std::filesystem::path(SEXTANT_SOURCE_DIR) / "scenarios/default.json";
    replace_text_file(network,
                      R"({"schema": "workload/1", "transformer": {"layers": 1, "hidden": 64, "heads": 2, "vocab": 256, "seq_len": 32}})");
    Library library = open_library(SEXTANT_SOURCE_DIR "/hardware_profiles");
    static_cast<void>(load_scenario(library, scenario, {"workload=" + network.string()}));
    for (const auto& file : {scenario, network, library.root / "hardware_profiles/clusters/two-core-reference.json"})
        EXPECT_TRUE(library.files.contains(file)) << file;
}

}  // namespace
}  // namespace sextant
