#include "backend/storage/loader.hpp"

#include "backend/storage/codec.hpp"
#include "model/base/diagnostics.hpp"
#include "tests/base/few_threads.hpp"
#include "tests/base/refusal.hpp"
#include "tests/storage/dataset_fixture.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include <sys/resource.h>

namespace sextant {
namespace {

using namespace units;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Samples of one value, their number; some bad, one that never comes until it is told to.
class NumberReader final : public DatasetReader {
public:
    explicit NumberReader(std::int64_t count, std::set<std::int64_t> bad = {}, std::int64_t stuck = -1)
        : count_(count), bad_(std::move(bad)), stuck_(stuck) {}

    [[nodiscard]] std::int64_t count() const override { return count_; }
    [[nodiscard]] std::string name(std::int64_t index) const override { return "number " + std::to_string(index); }
    void release() {
        const std::lock_guard lock(mutex_);
        released_ = true;
        changed_.notify_all();
    }

private:
    void read_sample(std::int64_t index, Sample& into) const override {
        if (bad_.contains(index)) throw_damage("it is bad");
        if (index == stuck_) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return released_; });
        }
        into = {{static_cast<std::uint8_t>(index)}, {1}, index};
    }

    std::int64_t count_;
    std::set<std::int64_t> bad_;
    std::int64_t stuck_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool released_ = false;
};

LoaderSettings settings(std::int64_t batch, int workers) {
    LoaderSettings s;
    s.batch = batch;
    s.workers = workers;
    return s;
}

std::vector<std::vector<std::int64_t>> labels_of(Loader& loader) {
    std::vector<std::vector<std::int64_t>> all;
    while (auto batch = loader.next()) all.push_back(batch->labels);
    return all;
}

std::vector<std::int64_t> flat(const std::vector<std::vector<std::int64_t>>& batches) {
    std::vector<std::int64_t> all;
    for (const auto& b : batches) all.insert(all.end(), b.begin(), b.end());
    return all;
}

TEST(Loader, GivesTheSameBatchesWhateverTheNumberOfWorkers) {
    const auto reader = std::make_shared<NumberReader>(50);
    LoaderSettings s = settings(8, 1);
    s.epochs = 3;
    Loader alone(reader, s);
    const auto expected = labels_of(alone);
    EXPECT_THAT(expected, SizeIs(3 * 6));  // 50 / 8, and what is left is left out
    for (const int workers : {2, 5}) {
        s.workers = workers;
        Loader many(reader, s);
        EXPECT_EQ(labels_of(many), expected);
    }
}

TEST(Loader, EndsTheWorkersThatItHasWhereAnotherCannotBeStarted) {
    const auto load = [] {
        allow_threads(2);
        try {
            const Loader loader(std::make_shared<NumberReader>(50), settings(8, 5));
        } catch (const std::system_error&) {
            std::_Exit(3);
        }
        std::_Exit(0);
    };
    EXPECT_EXIT(load(), testing::ExitedWithCode(3), "");
}

TEST(Loader, GivesEverySampleOnceInAnEpochAndAnotherOrderInTheNext) {
    LoaderSettings s = settings(7, 3);
    s.partial = true;
    s.epochs = 2;
    Loader loader(std::make_shared<NumberReader>(40), s);
    std::vector<std::int64_t> all = flat(labels_of(loader));
    ASSERT_THAT(all, SizeIs(80));
    std::vector<std::int64_t> first(all.begin(), all.begin() + 40), second(all.begin() + 40, all.end());
    EXPECT_NE(first, second);
    for (auto* epoch : {&first, &second}) {
        std::ranges::sort(*epoch);
        for (std::int64_t i = 0; i < 40; ++i) EXPECT_EQ((*epoch)[static_cast<std::size_t>(i)], i);
    }
}

TEST(Loader, KeepsTheOrderOfTheDatasetWhereNothingIsShuffled) {
    LoaderSettings s = settings(3, 2);
    s.shuffle = false;
    Loader loader(std::make_shared<NumberReader>(9), s);
    EXPECT_THAT(labels_of(loader), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5), ElementsAre(6, 7, 8)));
}

TEST(Loader, GivesEachRankItsOwnPartAndAllAsManyBatches) {
    std::vector<std::int64_t> all;
    for (int rank = 0; rank < 3; ++rank) {
        LoaderSettings s = settings(2, 2);
        s.rank = rank;
        s.ranks = 3;
        Loader loader(std::make_shared<NumberReader>(20), s);  // 6 of each rank
        const auto mine = labels_of(loader);
        EXPECT_THAT(mine, SizeIs(3));
        for (const auto& batch : mine) all.insert(all.end(), batch.begin(), batch.end());
    }
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end()) << "no sample is given to two ranks";
    EXPECT_THAT(all, SizeIs(18));
}

TEST(Loader, PutsTheNextGoodSampleInThePlaceOfABadOneAndNamesIt) {
    LoaderSettings s = settings(4, 2);
    s.shuffle = false;
    s.bad = BadSamples::skip;
    s.epochs = 2;
    Loader loader(std::make_shared<NumberReader>(8, std::set<std::int64_t>{2, 7}), s);
    // 3 stands in for 2, and behind the last one the first again.
    const auto epoch = ElementsAre(ElementsAre(0, 1, 3, 3), ElementsAre(4, 5, 6, 0));
    const auto found = labels_of(loader);
    ASSERT_THAT(found, SizeIs(4));
    EXPECT_THAT(std::vector(found.begin(), found.begin() + 2), epoch);
    EXPECT_THAT(std::vector(found.begin() + 2, found.end()), epoch);
    const auto skipped = loader.skipped();
    ASSERT_THAT(skipped, SizeIs(2));
    EXPECT_EQ(skipped.at(2), "number 2: it is bad");
    EXPECT_EQ(skipped.at(7), "number 7: it is bad");
}

TEST(Loader, EndsWithTheErrorOfABadSampleAfterTheBatchesBeforeIt) {
    LoaderSettings s = settings(2, 3);
    s.shuffle = false;
    Loader loader(std::make_shared<NumberReader>(12, std::set<std::int64_t>{5}), s);
    EXPECT_THAT(loader.next()->labels, ElementsAre(0, 1));
    EXPECT_THAT(loader.next()->labels, ElementsAre(2, 3));
    for (int again = 0; again < 2; ++again) EXPECT_EQ(refusal_by([&] { return loader.next(); }), "number 5: it is bad");
}

TEST(Loader, SaysWhenNoSampleIsGoodOrTooFewAreThere) {
    LoaderSettings s = settings(2, 2);
    s.bad = BadSamples::skip;
    EXPECT_THROW(Loader(std::make_shared<NumberReader>(3, std::set<std::int64_t>{0, 1, 2}), s), InputError);
    s.ranks = 4;
    EXPECT_THROW(Loader(std::make_shared<NumberReader>(7), s), InputError);
}

TEST(Loader, WaitsForAFilesystemThatNeverAnswersNoLongerThanItsTimeout) {
    const auto reader = std::make_shared<NumberReader>(12, std::set<std::int64_t>{}, 4);
    LoaderSettings s = settings(2, 2);
    s.shuffle = false;
    s.timeout = 50 * ms;
    {
        Loader loader(reader, s);
        loader.next();
        loader.next();
        try {
            loader.next();
            FAIL() << "sample 4 never comes";
        } catch (const BackendError& e) {
            EXPECT_THAT(e.what(), HasSubstr("has number 4 at hand"));
        }
    }  // nor does it wait for the worker
    reader->release();
}

TEST(Loader, GoesWithoutBeingReadToItsEnd) {
    LoaderSettings s = settings(2, 4);
    s.epochs.reset();
    Loader loader(std::make_shared<NumberReader>(100), s);
    EXPECT_TRUE(loader.next());
}

TEST(Loader, KeepsTheMemoryOfBatchesThatWereUsedUp) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer has an allocator of its own";
#endif
    class Large final : public DatasetReader {
    public:
        [[nodiscard]] std::int64_t count() const override { return 100; }
        [[nodiscard]] std::string name(std::int64_t) const override { return "x"; }

    private:
        void read_sample(std::int64_t, Sample& into) const override { into = {Blob(1U << 20U), {1 << 20}, 0}; }
    };
    keep_freed_memory();
    LoaderSettings s = settings(4, 1);
    s.epochs.reset();
    Loader loader(std::make_shared<Large>(), s);
    const auto faults_of = [&](int batches) {
        rusage before{}, after{};
        getrusage(RUSAGE_SELF, &before);
        for (int i = 0; i < batches; ++i) loader.next();
        getrusage(RUSAGE_SELF, &after);
        return after.ru_minflt - before.ru_minflt;
    };
    faults_of(20);                             // as many as may be there at once, and more
    EXPECT_LT(faults_of(50), 50 * 1024 / 10);  // a batch has 1024 pages
}

TEST(Loader, WorksAheadNoFurtherThanItsPrefetch) {
    class Counting final : public DatasetReader {
    public:
        [[nodiscard]] std::int64_t count() const override { return 1000; }
        [[nodiscard]] std::string name(std::int64_t) const override { return "x"; }
        mutable std::atomic<int> reads = 0;

    private:
        void read_sample(std::int64_t, Sample& into) const override {
            ++reads;
            into = {{1}, {1}, 0};
        }
    };
    const auto reader = std::make_shared<Counting>();
    LoaderSettings s = settings(10, 3);
    s.prefetch = 2;
    Loader loader(reader, s);
    loader.next();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_LE(reader->reads, 1 + 10 * (1 + 2));  // the first to know the extents, the batch that was taken, two ahead
}

using LoaderOfFiles = DatasetTest;

TEST_F(LoaderOfFiles, DecodesResizesAndTellsWhatThatTook) {
    const std::shared_ptr<const DatasetReader> reader = open_dataset(make("d", {"tar", SampleEncoding::png}, 20, {16, 16, 3}));
    LoaderSettings s = settings(5, 2);
    s.shuffle = false;
    s.resize = ImageSize{4, 6};
    Loader loader(reader, s);
    EXPECT_EQ(loader.extents(), (Extents{4, 6, 3}));
    std::int64_t samples = 0;
    while (const auto batch = loader.next()) {
        ASSERT_THAT(batch->values, SizeIs(5 * 4 * 6 * 3));
        for (std::int64_t i = 0; i < 5; ++i, ++samples) {
            Sample sample;
            reader->read(samples, sample);
            const Blob expected = resize(decode(sample), 4, 6).values;
            EXPECT_TRUE(std::ranges::equal(
                expected, std::span(batch->values).subspan(static_cast<std::size_t>(i) * expected.size(), expected.size())));
        }
        EXPECT_GT(batch->work.reading, 0 * units::s);
        EXPECT_GT(batch->work.decoding, 0 * units::s);
        EXPECT_LE(batch->work.reading + batch->work.decoding, (batch->work.end - batch->work.start) * 1.000001);
    }
    EXPECT_EQ(samples, 20);
}

TEST_F(LoaderOfFiles, MakesNumbersOfBytesWhereItIsAsked) {
    const std::shared_ptr<const DatasetReader> reader = open_dataset(make("d", {"npy", SampleEncoding::raw}, 20, {4, 4, 3}));
    LoaderSettings s = settings(5, 2);
    s.shuffle = false;
    s.numbers = Numbers{100, 50};
    Loader loader(reader, s);
    const auto batch = loader.next();
    EXPECT_THAT(batch->values, IsEmpty());
    ASSERT_THAT(batch->numbers, SizeIs(5 * 4 * 4 * 3));
    Sample sample;
    reader->read(0, sample);
    // (b - 100) / 50
    EXPECT_FLOAT_EQ(batch->numbers[7], (static_cast<float>(sample.bytes[7]) - 100) / 50);
}

TEST_F(LoaderOfFiles, TakesASampleOfAnotherShapeForABadOne) {
    make("d", {"files", SampleEncoding::png}, 6);
    const auto reader = std::shared_ptr<const DatasetReader>(open_dataset(at("d")));
    const Blob other = encode({{3, 3, 3}, Blob(27)}, 0, SampleEncoding::png).bytes;
    write_bytes(reader->name(4), {reinterpret_cast<const char*>(other.data()), other.size()});
    LoaderSettings s = settings(6, 1);
    s.shuffle = false;
    s.bad = BadSamples::skip;
    Loader loader(reader, s);
    EXPECT_THAT(loader.next()->labels, SizeIs(6));
    EXPECT_THAT(loader.skipped().at(4), HasSubstr("it is 3x3x3, and the first sample 8x6x3"));
}

}  // namespace
}  // namespace sextant
