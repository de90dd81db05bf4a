// What a program printed, as JSON.
#pragma once

#include "tests/cli/process.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace sextant {

inline nlohmann::json json_of(const ProcessResult& r) {
    nlohmann::json json = nlohmann::json::parse(r.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << r.out << r.err;
    return json;
}

}  // namespace sextant
