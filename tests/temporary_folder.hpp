// Tests that write files have a folder of their own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <unistd.h>

namespace sextant {

class TemporaryFolder : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }

    const std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("sextant_test_" + std::to_string(::getpid()));
};

}  // namespace sextant
