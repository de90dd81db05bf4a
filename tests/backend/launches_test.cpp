// Work that is noted and launched as graphs, which are lists of calls on the host here.
#include "backend/kernels/launches.hpp"

#include "tests/backend/host_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::kernels {
namespace {

struct Add {
    int* to;
    int value;
    static void run(void** arguments) {
        const auto& f = *static_cast<const Add*>(arguments[0]);
        *f.to += f.value;
    }
};

class LaunchesTest : public testing::Test {
protected:
    void add(int* to, int value) { launches_.kernel({reinterpret_cast<const void*>(&Add::run), {1, 1}, {1, 1}}, Add{to, value}); }
    void twice(int* to) {
        launches_.call(
            "twice", [to] { *to *= 2; }, to);
    }
    void flush() {
        launches_.flushed([] {});
    }
    [[nodiscard]] GraphUse use() const { return *launches_.use(); }

    Launches<HostStream> launches_{{}, true};
    int number_ = 0;
};

TEST_F(LaunchesTest, RunsNothingUntilSomebodyAsks) {
    add(&number_, 3);
    twice(&number_);
    EXPECT_EQ(number_, 0);
    const int seen = launches_.flushed([&] { return number_; });
    EXPECT_EQ(seen, 6);
    flush();
    EXPECT_EQ(number_, 6) << "and once";
}

TEST_F(LaunchesTest, CapturesWhatComesASecondTime) {
    for (int i = 0; i < 4; ++i) {
        add(&number_, 1);
        twice(&number_);
        flush();
    }
    EXPECT_EQ(number_, 2 + 4 + 8 + 16);
    EXPECT_EQ(use().captures, 1U);
    EXPECT_EQ(use().launches, 3U);
    EXPECT_EQ(use().calls, 8U);
    EXPECT_EQ(use().in_graphs, 6U);
    EXPECT_EQ(use().changed, 0U);
}

// 0 + 1 + 10, + 2 + 10, + 3 + 10 in another place, + 4 + 10 in the first again.
TEST_F(LaunchesTest, GivesKernelsTheArgumentsOfTheStep) {
    int other = 0;
    for (int i = 1; i <= 4; ++i) {
        add(i == 3 ? &other : &number_, i);
        add(&number_, 10);
        flush();
    }
    EXPECT_EQ(number_, 1 + 2 + 4 + 40);
    EXPECT_EQ(other, 3);
    EXPECT_EQ(use().captures, 1U);
    EXPECT_EQ(use().changed, 2U);
}

// What a library was told cannot be changed in its graph.
TEST_F(LaunchesTest, KnowsCallsOfLibrariesByAllThatTheyAreTold) {
    int other = 1;
    for (int i = 0; i < 3; ++i)
        for (int* to : {&number_, &other}) {
            add(to, 1);
            twice(to);
            flush();
        }
    EXPECT_EQ(number_, 14);
    EXPECT_EQ(other, 22);
    EXPECT_EQ(use().captures, 2U);
}

TEST_F(LaunchesTest, LaunchesAKernelAloneAsOne) {
    for (int i = 0; i < 3; ++i) {
        add(&number_, 1);
        flush();
    }
    EXPECT_EQ(number_, 3);
    EXPECT_EQ(use().launches, 0U);
}

TEST_F(LaunchesTest, ForgetsWhatDoesNotComeAgain) {
    const auto captures = [&](int steps_before) {
        for (int i = 0; i < steps_before; ++i) launches_.begin_step();
        add(&number_, 1);
        twice(&number_);
        flush();
        return use().captures;
    };
    EXPECT_EQ(captures(0), 0U);
    EXPECT_EQ(captures(GraphCache<HostStream>::kept_steps), 1U);
    EXPECT_EQ(captures(GraphCache<HostStream>::kept_steps + 1), 0U) << "it is new again";
    EXPECT_EQ(captures(1), 1U);
}

TEST_F(LaunchesTest, SaysInWhatItFailedToAllThatCome) {
    launches_.enter([] { return std::string("mlp.fc1"); });
    launches_.call("refused", [] { throw BackendError("no room"); });
    launches_.leave();
    for (int i = 0; i < 2; ++i) {
        try {
            flush();
            FAIL() << "nobody hears of it";
        } catch (const BackendError& e) {
            EXPECT_STREQ(e.what(), "mlp.fc1: no room");
        }
    }
}

TEST(Launches, AreMadeAtOnceWhereNothingIsCaptured) {
    Launches<HostStream> launches({}, false);
    int number = 0;
    launches.kernel({reinterpret_cast<const void*>(&Add::run), {1, 1}, {1, 1}}, Add{&number, 5});
    EXPECT_EQ(number, 5);
    launches.call(
        "twice", [&] { number *= 2; }, &number);
    EXPECT_EQ(number, 10);
    EXPECT_FALSE(launches.use());
}

}  // namespace
}  // namespace sextant::kernels
