#include "backend/storage/loader.hpp"

#include "backend/storage/clock.hpp"
#include "backend/storage/codec.hpp"
#include "backend/storage/file.hpp"
#include "model/base/diagnostics.hpp"
#include "model/base/quantity_text.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <random>
#include <variant>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace sextant {
namespace {

using Order = std::vector<std::int64_t>;
using Outcome = std::variant<LoadedBatch, std::exception_ptr>;

constexpr int largest_kept = 32 << 20, most_kept = 1 << 30;  // bytes; glibc takes no larger allocation from what it keeps than the first

std::int64_t batches_of(std::int64_t samples, const LoaderSettings& s) { return (samples + (s.partial ? s.batch - 1 : 0)) / s.batch; }

}  // namespace

void keep_freed_memory() {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, largest_kept);
    mallopt(M_TRIM_THRESHOLD, most_kept);
#endif
}

Order epoch_order(std::int64_t samples, const LoaderSettings& s, std::int64_t epoch) {
    Order all(static_cast<std::size_t>(samples));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    if (s.shuffle) {  // Fisher and Yates; the standard's shuffle differs between libraries
        std::seed_seq sequence{s.seed, s.seed >> 32, static_cast<std::uint64_t>(epoch)};
        std::mt19937_64 random(sequence);
        for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random() % i]);
    }
    Order mine;
    for (std::int64_t i = 0; i < samples / s.ranks; ++i) mine.push_back(all[static_cast<std::size_t>(i * s.ranks + s.rank)]);
    return mine;
}

struct Loader::State {
    State(std::shared_ptr<const DatasetReader> r, const LoaderSettings& s)
        : reader(std::move(r)),
          settings(s),
          mine(reader->count() / s.ranks),
          batches(batches_of(mine, s)),
          at(static_cast<std::size_t>(s.workers), -1) {}

    const std::shared_ptr<const DatasetReader> reader;
    const LoaderSettings settings;
    const std::int64_t mine, batches;  // samples and batches of this rank in an epoch
    Extents extents;

    mutable std::mutex mutex;
    std::condition_variable room, ready;
    std::int64_t taken = 0, given = 0;  // batches: begun by workers, handed out
    std::map<std::int64_t, Outcome> made;
    std::map<std::int64_t, std::shared_ptr<const Order>> orders;  // by epoch
    std::map<std::int64_t, std::string> bad;
    std::vector<std::int64_t> at;  // the sample that each worker has at hand
    std::vector<BatchLoad> loads;
    bool stopped = false, stalled = false, asked = false;

    [[nodiscard]] bool ended(std::int64_t number) const { return settings.epochs && number >= *settings.epochs * batches; }

    void work(int worker);
    LoadedBatch make(std::int64_t number, int worker);
    std::shared_ptr<const Order> order(std::int64_t epoch);
    void add_sample(std::int64_t index, LoadedBatch&, Sample& scratch);
    [[nodiscard]] ByteArray decoded(const Sample&) const;
    void add_values(const ByteArray&, LoadedBatch&);
    bool try_sample(std::int64_t index, LoadedBatch&, Sample& scratch);
    void find_extents();
    [[noreturn]] void give_up();
};

std::shared_ptr<const Order> Loader::State::order(std::int64_t epoch) {
    const std::lock_guard lock(mutex);
    std::shared_ptr<const Order>& found = orders[epoch];
    if (!found) found = std::make_shared<Order>(epoch_order(reader->count(), settings, epoch));
    // Whoever still works on an epoch before holds its own.
    orders.erase(orders.begin(), orders.lower_bound(epoch - 1));
    return found;
}

ByteArray Loader::State::decoded(const Sample& sample) const {
    ByteArray array = decode(sample);
    const auto& size = settings.resize;
    if (!size || array.extents == Extents{size->height, size->width, array.extents.back()}) return array;
    if (array.extents.size() != 3) throw_damage(to_text(array.extents) + " is no image that could be resized");
    return sextant::resize(array, size->height, size->width);
}

void Loader::State::add_values(const ByteArray& array, LoadedBatch& batch) {
    if (extents.empty()) extents = array.extents;  // of the very first
    if (array.extents != extents)
        throw_damage("it is " + to_text(array.extents) + ", and the first sample " + to_text(extents), "--resize makes them alike");
    if (settings.numbers)
        append_numbers(batch.numbers, array.values, *settings.numbers);
    else
        append_bytes(batch.values, array.values);
}

void Loader::State::add_sample(std::int64_t index, LoadedBatch& batch, Sample& scratch) {
    const Seconds start = now();
    reader->read(index, scratch);
    const Seconds read = now();
    batch.work.reading += read - start;
    batch.work.read += static_cast<double>(scratch.bytes.size()) * units::B;
    if (settings.decode) {
        naming([&] { return reader->name(index); }, [&] { add_values(decoded(scratch), batch); });
        batch.work.decoding += now() - read;
    }
    batch.labels.push_back(scratch.label);
    batch.samples.push_back(index);
}

// Whether it was added; where not, that is noted.
bool Loader::State::try_sample(std::int64_t index, LoadedBatch& batch, Sample& scratch) {
    try {
        add_sample(index, batch, scratch);
        return true;
    } catch (const InputError& e) {
        if (settings.bad == BadSamples::fail) throw;
        const std::lock_guard lock(mutex);
        bad.emplace(index, e.what());
        return false;
    }
}

void Loader::State::give_up() {
    throw InputError(
        Diagnostic{reader->name(0), "", "none of " + std::to_string(mine) + " samples is good", "--bad-samples fail says what is wrong"});
}

LoadedBatch Loader::State::make(std::int64_t number, int worker) {
    LoadedBatch batch;
    batch.epoch = number / batches;
    batch.number = number % batches;
    batch.work.worker = worker;
    batch.work.sequence = number;
    batch.work.start = now();
    const std::shared_ptr<const Order> samples = order(batch.epoch);
    const std::int64_t first = batch.number * settings.batch, end = std::min(first + settings.batch, mine);
    batch.work.samples = end - first;
    Sample scratch;
    const auto values = static_cast<std::size_t>(elements(extents) * (end - first));
    settings.numbers ? batch.numbers.reserve(values) : batch.values.reserve(values);
    for (std::int64_t place = first; place < end; ++place) {
        bool added = false;
        for (std::int64_t tries = 0; !added; ++tries) {
            if (tries == mine) give_up();
            const std::int64_t index = (*samples)[static_cast<std::size_t>((place + tries) % mine)];
            {
                const std::lock_guard lock(mutex);
                if (stopped) return batch;
                at[static_cast<std::size_t>(worker)] = index;
                if (bad.contains(index)) continue;
            }
            added = try_sample(index, batch, scratch);
        }
    }
    batch.work.end = now();
    return batch;
}

void Loader::State::work(int worker) {
    for (;;) {
        std::unique_lock lock(mutex);
        room.wait(lock,
                  [&] { return stopped || ended(taken) || taken < given + std::max<std::int64_t>(settings.prefetch, asked ? 1 : 0); });
        if (stopped || ended(taken)) return;
        const std::int64_t number = taken++;
        lock.unlock();
        Outcome outcome;
        try {
            outcome = make(number, worker);
        } catch (...) {
            outcome = std::current_exception();
        }
        lock.lock();
        if (const auto* batch = std::get_if<LoadedBatch>(&outcome)) loads.push_back(batch->work);
        made.emplace(number, std::move(outcome));
        at[static_cast<std::size_t>(worker)] = -1;
        ready.notify_all();
    }
}

// Reads the first good sample, so that what is wrong with all of them shows before anything starts.
void Loader::State::find_extents() {
    LoadedBatch batch;
    Sample scratch;
    for (std::int64_t i = 0; i < reader->count(); ++i)
        if (try_sample(i, batch, scratch)) return;
    give_up();
}

// By way of a loader that is whole, and so ends the workers that it has where another cannot be started.
Loader::Loader(std::shared_ptr<const DatasetReader> reader, const LoaderSettings& settings)
    : Loader(std::make_shared<State>(std::move(reader), settings)) {
    if (state_->batches == 0)
        throw InputError(Diagnostic{state_->reader->name(0), "",
                                    "there are " + std::to_string(state_->reader->count()) + " samples: too few for a batch of " +
                                        std::to_string(settings.batch) + " on each of " + std::to_string(settings.ranks) + " ranks",
                                    "make more, or a smaller batch"});
    if (settings.decode) state_->find_extents();
    for (int w = 0; w < settings.workers; ++w) workers_.emplace_back([state = state_, w] { state->work(w); });
}

Loader::~Loader() {
    bool stalled = false;
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopped = true;
        stalled = state_->stalled;
    }
    state_->room.notify_all();
    for (std::thread& worker : workers_) stalled ? worker.detach() : worker.join();
}

const Extents& Loader::extents() const { return state_->extents; }

std::map<std::int64_t, std::string> Loader::skipped() const {
    const std::lock_guard lock(state_->mutex);
    return state_->bad;
}

std::vector<BatchLoad> Loader::loads() const {
    const std::lock_guard lock(state_->mutex);
    return state_->loads;
}

std::optional<LoadedBatch> Loader::next() {
    State& s = *state_;
    std::unique_lock lock(s.mutex);
    if (s.ended(s.given)) return std::nullopt;
    s.asked = true;
    s.room.notify_all();
    if (!s.ready.wait_for(lock, to_chrono(s.settings.timeout), [&] { return s.made.contains(s.given); })) {
        s.stalled = true;
        const auto busy = std::ranges::find_if(s.at, [](std::int64_t index) { return index >= 0; });
        throw BackendError(
            "no batch came for " + to_text(s.settings.timeout) +
            (busy == s.at.end() ? "" : ": worker " + std::to_string(busy - s.at.begin()) + " has " + s.reader->name(*busy) + " at hand"));
    }
    const auto found = s.made.find(s.given);
    if (const auto* failure = std::get_if<std::exception_ptr>(&found->second)) {
        s.stopped = true;
        std::rethrow_exception(*failure);  // again for whoever asks again
    }
    LoadedBatch batch = std::get<LoadedBatch>(std::move(found->second));
    s.made.erase(found);
    ++s.given;
    s.asked = false;
    s.room.notify_all();
    return batch;
}

}  // namespace sextant
