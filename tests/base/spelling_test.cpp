#include "model/base/spelling.hpp"
#include "model/base/diagnostics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NearestNames, PutsASlipOfTheFingerBeforeAPartOfTheName) {
    EXPECT_THAT(nearest_names("memory_bandwith", {"memory", "memory_bandwidth", "power"}, 2), ElementsAre("memory_bandwidth", "memory"));
}

TEST(NearestNames, FindsNamesThatContainTheWordWhateverItsCase) {
    EXPECT_THAT(nearest_names("H100", {"V100", "NVIDIA h100 80GB HBM3"}, 2), ElementsAre("NVIDIA h100 80GB HBM3", "V100"));
    EXPECT_THAT(nearest_names("lustre", {"GPFS", "Lustre, flash (Perlmutter)"}, 1), ElementsAre("Lustre, flash (Perlmutter)"));
}

TEST(NearestNames, FindsASlipInThePartOfANameThatWasWritten) {
    // One edit from the beginning of the name, two from all of another.
    EXPECT_THAT(nearest_names("H100 SXM6", {"B100 SXM", "H100 SXM5 80GB"}, 2), ElementsAre("H100 SXM5 80GB", "B100 SXM"));
    EXPECT_THAT(nearest_names("snelius", {"selene", "snellius-gcn"}, 1), ElementsAre("snellius-gcn"));
    EXPECT_THAT(nearest_names("leonrado", {"leipzig", "CINECA Leonardo Booster"}, 1), ElementsAre("CINECA Leonardo Booster"));
    EXPECT_THAT(nearest_names("tb", {"table", "to_be"}, 2), IsEmpty());  // too short to be a part of a name
}

TEST(NearestNames, SaysNothingWhenNothingIsNear) {
    EXPECT_THAT(nearest_names("xyzzy", {"memory", "power"}, 3), IsEmpty());
    EXPECT_THAT(nearest_names("", {"memory"}, 3), IsEmpty());
    EXPECT_THAT(nearest_names(std::string(1000, 'a'), {"memory"}, 3), IsEmpty());
}

TEST(NearestNumberedNames, HaveTheNumbersOfTheWord) {
    const std::vector<std::string_view> names{"llama-2-7b", "llama-3-8b", "llama-3.1-8b", "mixtral-8x7b", "opt-1.3b", "bert-large"};
    EXPECT_THAT(nearest_numbered_names("llama-3.2-1b", names), IsEmpty());
    EXPECT_THAT(nearest_numbered_names("llama-3.1-8", names), ElementsAre("llama-3.1-8b"));
    EXPECT_THAT(nearest_numbered_names("llama3-8b", names), ElementsAre("llama-3-8b"));
    EXPECT_THAT(nearest_numbered_names("meta-llama/Llama-2-7b-hf", names), ElementsAre("llama-2-7b"));
    EXPECT_THAT(nearest_numbered_names("mistralai/Mixtral-8x7B-v0.1", names), ElementsAre("mixtral-8x7b"));  // numbers behind a name
    EXPECT_THAT(nearest_numbered_names("bert-lage", names), ElementsAre("bert-large"));
    EXPECT_THAT(nearest_numbered_names("opt", names), ElementsAre("opt-1.3b"));  // which of them is not said
    EXPECT_THAT(nearest_numbered_names("t5-7b", names), IsEmpty());
}

TEST(LettersAndDigits, AreTheSameOfANameHoweverItIsWritten) {
    for (const char* name : {"reduce_scatter", "Reduce-Scatter", "ReduceScatter", "reduce scatter"})
        EXPECT_EQ(letters_and_digits(name), "reducescatter");
    EXPECT_EQ(letters_and_digits("ZB-V 2"), "zbv2");
    EXPECT_EQ(letters_and_digits("--"), "");
}

TEST(Trimmed, LeavesSpaceInsideAlone) {
    EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
    EXPECT_EQ(trimmed("ab"), "ab");
    EXPECT_EQ(trimmed(" \n"), "");
    EXPECT_EQ(trimmed(""), "");
}

TEST(HintFor, NamesTheNearestAndListsWhatCanBeRead) {
    EXPECT_EQ(hint_for("memry", {"memory", "power"}), "did you mean \"memory\"? one of: memory, power");
    EXPECT_EQ(hint_for("xyzzy", {"memory", "power"}), "one of: memory, power");
    std::vector<std::string_view> many(50, "power");
    many.emplace_back("memory");
    EXPECT_EQ(hint_for("memry", many), "did you mean \"memory\"?");
    EXPECT_THAT(hint_for("xyzzy", many), testing::EndsWith(", power, memory"));
}

TEST(Printable, LeavesNothingThatATerminalWouldObey) {
    EXPECT_EQ(printable("\x1b[31mred\x07 \x7f"), "?[31mred? ?");
    EXPECT_EQ(printable("two\nlines,\ta tab, gr\xc3\xb6\xc3\x9f"), "two\nlines,\ta tab, gr\xc3\xb6\xc3\x9f");
}

TEST(Printable, HasAQuestionMarkForEachByteThatIsNoUtf8) {
    // A lone byte of Latin-1, a character that is cut off by the end and by a letter, a byte that only continues one.
    EXPECT_EQ(printable("gr\xf6\xdf e\xe2\x82"), "gr?? e??");
    EXPECT_EQ(printable("\xe2\x82z\x82 \xe2\x82\xac \xff"), "??z? \xe2\x82\xac ?");
}

TEST(Printable, IsWhatAnErrorSays) {
    const Diagnostic d{.file = "\x1b[2J.json", .pointer = "/\x07", .what = "unknown key \x1b]0;", .hint = "\x0d"};
    EXPECT_EQ(to_text(d), "?[2J.json:/?: unknown key ?]0;\n  hint: ?");
}

TEST(Diagnostic, QuotesTheBeginningOfAWordOfMegabytes) {
    const Diagnostic d{.file = "f", .pointer = '/' + std::string(2000000, 'p'), .what = std::string(2000000, 'w'), .hint = ""};
    // "f:", a thousand characters and " ..." of either, ": " between them.
    EXPECT_EQ(to_text(d).size(), 2 + 1004 + 2 + 1004);
}

}  // namespace
}  // namespace sextant
