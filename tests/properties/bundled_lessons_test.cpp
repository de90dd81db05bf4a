// Every lesson is true: its changes are made, and what it says of them is held against the model.
#include "model/sextant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<Lesson>& lessons() {
    static const std::vector<Lesson> all = bundled_lessons(open_library());
    return all;
}

class BundledLessons : public testing::TestWithParam<std::size_t> {
protected:
    static const Lesson& lesson() { return lessons()[GetParam()]; }
    Library library = open_library();
};

TEST_P(BundledLessons, AreTrueOfTheModel) {
    std::cout << "    " << lesson().title << '\n';
    for (const LessonStep& step : lesson().steps) {
        const LessonAnswer answer = answer_of(library, step);
        EXPECT_NE(answer.start, answer.changed) << "nothing is changed: " << step.task;
        const std::vector<NamedQuantity> quantities = lesson_quantities(answer.before, answer.after);
        for (const Condition& check : step.checks) EXPECT_TRUE(holds(check, quantities)) << check.text << " after: " << step.task;
        std::vector<std::string> said = step.seen;
        said.push_back(step.look);
        for (const std::string& sentence : said) {
            const std::string text = told(sentence, quantities);
            std::cout << "        " << text << '\n';
            EXPECT_THAT(text, Not(HasSubstr("{"))) << "no such number";
        }
    }
}

TEST_P(BundledLessons, AskForOneChangeAtATimeAndSayWhereItIsMade) {
    for (const LessonStep& step : lesson().steps) {
        EXPECT_TRUE(step.task.find("editor") != std::string::npos || step.task.find("button") != std::string::npos) << step.task;
        EXPECT_FALSE(step.changes.empty());
        EXPECT_FALSE(step.seen.empty());
        EXPECT_FALSE(step.checks.empty());
    }
    EXPECT_FALSE(lesson().source.empty());
}

std::vector<std::size_t> numbers() {
    std::vector<std::size_t> all(lessons().size());
    std::ranges::generate(all, [n = std::size_t{0}]() mutable { return n++; });
    return all;
}
INSTANTIATE_TEST_SUITE_P(All, BundledLessons, testing::ValuesIn(numbers()), [](const auto& number) {
    std::string name = lessons()[number.param].file.stem().string();
    std::ranges::replace(name, '-', '_');
    return name;
});

TEST(Lesson, PutsNumbersInThePlaceOfTheirNames) {
    const std::vector<NamedQuantity> quantities = {{"after.step_time", 12.5 * units::ms}, {"after.mfu", 0.456}};
    EXPECT_EQ(told("{after.step_time} at {after.mfu %}, or {after.mfu}", quantities), "12.5 ms at 46 %, or 0.456");
    // As the window has them: counts are whole, of a rate three digits are known.
    const std::vector<NamedQuantity> counts = {{"devices", 16384}, {"rate", 2439.37}, {"ratio", 2}};
    EXPECT_EQ(told("{devices} at {rate} images/s, {ratio} times", counts), "16,384 at 2,440 images/s, 2 times");
    EXPECT_EQ(told("{nothing} and {unclosed", quantities), "{nothing} and {unclosed");
}

TEST(Lesson, ComparesTheNumbersOfBeforeAndAfter) {
    Report before, after;
    before.estimate.step = Seconds::from_si(2);
    after.estimate.step = Seconds::from_si(3);
    const std::vector<NamedQuantity> quantities = lesson_quantities(before, after);
    EXPECT_TRUE(holds(parse_condition("ratio.step_time == 1.5"), quantities));
    EXPECT_TRUE(holds(parse_condition("before.step_time == 2 s"), quantities));
    EXPECT_THROW(holds(parse_condition("ratio.mfu > 1"), quantities), InputError) << "nothing to compare with";
    EXPECT_FALSE(same_answer(before, after));
    EXPECT_TRUE(same_answer(after, after));
}

}  // namespace
}  // namespace sextant
