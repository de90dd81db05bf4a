// Tests that start the executor under mpirun.
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace sextant {

using nlohmann::json;

class MpiTest : public testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    // To stem_ + ".json". `plan` is added to one of a global batch of eight.
    void write_scenario(const json& workload, const json& plan) const;

    std::string stem_;  // of the test's files
    json framework_ = "sextant";
};

}  // namespace sextant
