#include "model/base/diagnostics.hpp"
#include "model/io/measurement/validation_reader.hpp"
#include "model/io/measurement/validation_writer.hpp"
#include "tests/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace sextant {
namespace {

using namespace units;

RowResult row(std::string id, double measured, std::optional<double> predicted) {
    RowResult r;
    r.id = std::move(id);
    r.series = "a";
    r.extent = 8;
    r.measured_step = measured * s;
    if (predicted)
        r.predicted_step = *predicted * s;
    else
        r.refused = "no such device";
    return r;
}

Validation before() { return {{{"f.json", "", {row("same", 10, 11), row("worse", 10, 11), row("better", 10, 15), row("gone", 10, 10)}}}}; }
Validation after() {
    return {
        {{"f.json", "", {row("same", 10, 11), row("worse", 10, 13), row("better", 10, 9), row("refused", 10, 10), row("new", 10, 10)}}}};
}

TEST(ValidationDiff, SaysWhichRowsMovedAndByHowMuchWorstFirst) {
    const ValidationDiff d = diff(before(), after());
    ASSERT_EQ(d.moved.size(), 2u);
    EXPECT_EQ(d.moved[0].id, "worse");
    EXPECT_NEAR(d.moved[0].worse_by(), 0.2, 1e-12);  // 30 % off instead of 10
    EXPECT_EQ(d.moved[1].id, "better");
    EXPECT_NEAR(d.moved[1].worse_by(), -0.4, 1e-12);  // 10 % too fast instead of 50 % too slow
    EXPECT_EQ(d.only_before, 1);
    EXPECT_EQ(d.only_after, 2);
    // Of the three rows that both have: (10 + 10 + 50) / 3 % and (10 + 30 + 10) / 3 %.
    EXPECT_NEAR(d.before.series().front().mape, 0.7 / 3, 1e-12);
    EXPECT_NEAR(d.after.series().front().mape, 0.5 / 3, 1e-12);
}

TEST(ValidationDiff, ARowThatIsRefusedNowMoved) {
    Validation now = before();
    now.files[0].results[0] = row("same", 10, std::nullopt);
    const ValidationDiff d = diff(before(), now);
    ASSERT_EQ(d.moved.size(), 1u);
    EXPECT_EQ(d.moved[0].refused_after, "no such device");
    EXPECT_EQ(d.moved[0].worse_by(), 0);
    EXPECT_NE(validation_diff_text(d).find("1 rows are newly refused"), std::string::npos);
}

class ValidationFile : public TemporaryFolder {
protected:
    [[nodiscard]] Validation load(const std::string& text) const {
        std::ofstream(folder_ / "base.json") << text;
        return load_validation(folder_ / "base.json");
    }
};

TEST_F(ValidationFile, WhatJsonSaysOfAValidationIsEnoughToHoldAnotherAgainstIt) {
    const Validation read = load(validation_json(before()));
    EXPECT_TRUE(diff(read, before()).moved.empty());
    EXPECT_EQ(validation_diff_text(diff(read, before())).substr(0, 21), "no prediction changed");
    const ValidationDiff d = diff(read, after());
    EXPECT_EQ(d.moved.size(), 2u);
    EXPECT_EQ(d.before.series().front().series, "a");  // known from the rows of today
    const std::string text = validation_diff_text(d);
    EXPECT_NE(text.find("23.3 % -> 16.7 %"), std::string::npos) << text;
    EXPECT_NE(text.find("worse"), std::string::npos);
}

TEST_F(ValidationFile, IsRefusedWhereItIsNoValidation) {
    EXPECT_THROW(load("{}"), InputError);
    EXPECT_THROW(load("["), InputError);
    EXPECT_THROW(load(R"({"files": [{"file": "f", "results": [{"predicted_step_time_s": "x"}]}]})"), InputError);
    EXPECT_TRUE(load(R"({"files": [7]})").files.front().results.empty());
}

TEST(ValidationPage, DrawsEachCountedRowOfAGroupTwiceAndNamesIt) {
    Validation v = after();
    v.files[0].results[0].fitted = true;
    v.files[0].results[3].counted = false;
    v.files[0].results[1].id = "<a & b>";
    const std::string page = validation_html(v);
    const auto count = [&](std::string_view what) {
        int n = 0;
        for (std::size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) ++n;
        return n;
    };
    EXPECT_EQ(count("<circle class=\"n\""), 6);  // three rows that judge, on two pictures
    EXPECT_EQ(count("<circle class=\"f\""), 2);
    EXPECT_EQ(count("&lt;a &amp; b&gt;: measured 10.0 s, predicted 13.0 s (+30.0 %)"), 2);
    EXPECT_EQ(count("<svg"), count("</svg>"));
    EXPECT_EQ(count("farthest off</th>"), count("<h2>")) << "of each group";
    EXPECT_EQ(count("class=\"far\""), 8) << "all four rows are named by a number, on two pictures";
    EXPECT_EQ(count("predicted / measured</text>"), count("<h2>")) << "the axis says what it counts";
    EXPECT_EQ(page.find("http"), std::string::npos);  // needs no other file
}

TEST(ValidationPage, IsAPageWithoutRowsToo) { EXPECT_NE(validation_html({}).find("</html>"), std::string::npos); }

}  // namespace
}  // namespace sextant
