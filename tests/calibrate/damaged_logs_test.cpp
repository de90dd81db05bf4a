// Logs as they come out of a full disk or a bad cable: cut off, with bytes that are others, lines twice. What calibrate --from makes of
// them is a profile that predicts, or a refusal; never a crash.
#include "model/io/profile/profile_reader.hpp"
#include "model/io/profile/profile_writer.hpp"
#include "model/sextant.hpp"
#include "tests/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace sextant {
namespace {

namespace fs = std::filesystem;

class DamagedLogs : public TemporaryFolder {
protected:
    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

    std::string damaged(std::string text) {
        switch (below(4)) {
            case 0: return text.substr(0, below(text.size()));
            case 1:  // bits that are others
                for (std::size_t i = 0, count = 1 + below(8); i < count; ++i) text[below(text.size())] ^= static_cast<char>(1 << below(8));
                return text;
            case 2:  // digits that are others: what is still a log, of an odd machine
                for (std::size_t i = 0, count = 1 + below(8); i < count; ++i)
                    if (const auto digit = text.find_first_of("0123456789", below(text.size())); digit != std::string::npos)
                        text[digit] = "0123456789-.en"[below(14)];
                return text;
            default: {  // a stretch twice
                const std::size_t begin = below(text.size());
                return text.insert(below(text.size()), text.substr(begin, below(200)));
            }
        }
    }

    // Whether a profile came out. What did is one that can be written and read back.
    bool narrows(const std::vector<fs::path>& files, const std::string& cluster) {
        try {
            const NarrowedCluster found = narrow_cluster(library_, {files, cluster, {}}, "a test");
            if (found.fit) {
                EXPECT_TRUE(std::isfinite(found.fit->median_error));
            }
            const fs::path profile = folder_ / "profile.json";
            std::ofstream(profile) << cluster_to_profile(found.cluster);
            Library again = open_library();
            Diagnostics problems;
            const Cluster* read = find_cluster(again.catalog, profile.string(), problems);
            EXPECT_NE(read, nullptr) << (problems.empty() ? "" : to_text(problems.list().front()));
            return true;
        } catch (const InputError& error) {
            EXPECT_FALSE(error.diagnostics().empty());
            return false;
        }
    }

    std::mt19937 random_{20261122};
    Library library_ = open_library();
};

TEST_F(DamagedLogs, MakeAProfileOrAreRefused) {
    const fs::path logs = SEXTANT_SOURCE_DIR "/tests/io/logs";
    constexpr const char* names[] = {"nccl_all_reduce.txt",
                                     "nccl_all_reduce_two_hosts.txt",
                                     "nccl_reduce_scatter.txt",
                                     "osu_allreduce.txt",
                                     "osu_bw.txt",
                                     "osu_latency.txt",
                                     "topo_matrix.txt",
                                     "topo_nvswitch.txt"};
    constexpr int times = 30;
    int made = 0, refused = 0;
    for (const char* name : names)
        for (int i = 0; i < times; ++i) {
            std::ostringstream text;
            text << std::ifstream(logs / name, std::ios::binary).rdbuf();
            const fs::path file = folder_ / name;
            const std::string bytes = damaged(text.str());
            std::ofstream(file, std::ios::binary) << bytes;
            SCOPED_TRACE(std::string(name) + ", damage " + std::to_string(i) + ":\n" + bytes);
            ++(narrows({file}, "dgx-a100-40gb") ? made : refused);
        }
    // Both happen: the damage is neither always fatal nor never felt.
    EXPECT_GT(made, 20);
    EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace sextant
