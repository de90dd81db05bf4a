#include "backend/storage/probe_storage.hpp"

#include "backend/storage/bring_to_disk.hpp"
#include "backend/storage/clock.hpp"
#include "backend/storage/file.hpp"
#include "backend/storage/page_cache.hpp"
#include "backend/storage/probe_folder.hpp"
#include "backend/storage/storage_kind.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;
using namespace units;

constexpr std::size_t block = 1U << 20U, page = static_cast<std::size_t>(StorageProbe::few.si()),
                      piece = static_cast<std::size_t>(StorageProbe::piece.si());
constexpr int small_files = 600, new_files = 100, files_of_folder = 50, seeks_at_most = 1000, pieces_at_most = 200;
constexpr std::array crowds{2, 4, 8, 16};
constexpr int passes_of_one = 3;  // of one thread over the large file, since what a disk does with a stream changes from one to the next

// Aligned as O_DIRECT wants it.
class Buffer {
public:
    Buffer() : bytes_(static_cast<std::uint8_t*>(std::aligned_alloc(page, block)), &std::free) { std::memset(bytes_.get(), 1, block); }
    [[nodiscard]] std::uint8_t* data() const { return bytes_.get(); }
    [[nodiscard]] BlobView view() const { return {bytes_.get(), block}; }

private:
    std::unique_ptr<std::uint8_t, decltype(&std::free)> bytes_;
};

Descriptor opened(const fs::path& path, int flags) {
    Descriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0600));
    if (file.number() < 0) throw BackendError("cannot open " + path.string() + ": " + std::strerror(errno));
    return file;
}

class Prober {
public:
    Prober(const ProbeSettings& settings, const std::function<void(std::int64_t, std::int64_t)>& progress)
        : s_(settings), progress_(progress), folder_(settings.directory), large_(folder_.path() / "large") {
        const StorageFacts facts = storage_facts(settings.directory);
        probe_.where = fs::absolute(settings.directory).string();
        probe_.kind = facts.kind;
        probe_.shared = facts.shared;
        if (!facts.shared) probe_.capacity = facts.free;
        probe_.read_ahead = facts.read_ahead;
        most_ = min(s_.most, 0.1 * facts.free);
    }

    StorageProbe run() {
        constexpr std::int64_t measurements = 3 + 2 * passes_of_one - 1 + 3 * (1 + std::ssize(crowds));
        const auto done = [&] { progress_(++done_, measurements); };
        for (int pass = 0; pass < passes_of_one; ++pass) write_large(), done();
        write_small(), done();
        for (int pass = 1; pass < passes_of_one; ++pass) read_large(1), done();
        for (const int threads : with_one()) read_large(threads), done();
        for (const int threads : with_one()) seek(threads), done();
        read_pieces(), done();
        for (const int threads : with_one()) open_small(threads), done();
        remove_small(), done();
        const std::string beyond = beyond_reach(s_.directory);
        if (!beyond.empty()) note(beyond);
        return std::move(probe_);
    }

private:
    static std::vector<int> with_one() {
        std::vector<int> list{1};
        list.insert(list.end(), crowds.begin(), crowds.end());
        return list;
    }

    void note(const std::string& text) {
        if (std::ranges::find(probe_.notes, text) == probe_.notes.end()) probe_.notes.push_back(text);
    }

    // Values that no filesystem can pack.
    void write_large() {
        std::mt19937_64 random(1);
        const Buffer buffer;
        const Descriptor file = opened(large_, O_WRONLY | O_CREAT | O_TRUNC);
        Seconds drawing;
        size_ = 0;
        const Seconds start = now();
        while (static_cast<double>(size_ + block) * B <= most_ && now() - start < s_.time_limit) {
            const Seconds before = now();
            for (std::size_t i = 0; i < block; i += sizeof(std::uint64_t)) {
                const std::uint64_t value = random();
                std::memcpy(buffer.data() + i, &value, sizeof value);
            }
            drawing += now() - before;
            write_all(file, buffer.view(), large_);
            size_ += block;
        }
        if (::fsync(file.number()) != 0) throw BackendError("cannot bring " + large_.string() + " to the disk: " + std::strerror(errno));
        if (size_ < 4 * block) throw BackendError(folder_.path().string() + " has no room for a few megabytes, or takes minutes for them");
        probe_.writes.push_back({1, static_cast<double>(size_) * B / (now() - start - drawing)});
    }

    void write_small() {
        const Buffer buffer;
        const Seconds start = now();
        for (int i = 0; i < small_files && now() - start < s_.time_limit; ++i) {
            const Seconds before = now();
            const fs::path folder = folder_.path() / std::to_string(i / files_of_folder);
            if (i % files_of_folder == 0) fs::create_directory(folder);
            files_.push_back(create_small(folder / std::to_string(i), buffer));
            probe_.creates.push_back(now() - before);
        }
        const Seconds written = now();
        bring_to_disk(folder_.path());  // what the disk does not have yet is never dropped
        for (Seconds& time : probe_.creates) time += (now() - written) / static_cast<double>(files_.size());
        std::ranges::shuffle(files_, std::mt19937_64(2));
    }

    static fs::path create_small(const fs::path& path, const Buffer& buffer) {
        write_all(opened(path, O_WRONLY | O_CREAT), buffer.view().first(page), path);
        return path;
    }

    // Whether reads must go past the memory.
    bool make_cold() {
        const ColdState state = drop_from_cache(folder_.path());
        constexpr double hardly_any = 0.01;
        if (!(state.left > hardly_any * state.all)) {
            if (!state.folders_too) note(shortcoming(state));
            return false;
        }
        const bool direct = Descriptor(::open(large_.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC)).number() >= 0;
        note((direct ? "read past the memory (O_DIRECT): " : "not cold: ") + shortcoming(state));
        return direct;
    }

    // Every thread its part of the file, in order.
    void read_large(int threads) {
        const int flags = O_RDONLY | (make_cold() ? O_DIRECT : 0);
        const std::size_t blocks = size_ / block / static_cast<std::size_t>(threads);
        std::atomic<std::size_t> done = 0;
        const Seconds start = now();
        side_by_side(threads, [&](int thread) {
            const Buffer buffer;
            const Descriptor file = opened(large_, flags);
            for (std::size_t b = 0; b < blocks && now() - start < s_.time_limit; ++b) {
                const std::size_t place = (static_cast<std::size_t>(thread) * blocks + b) * block;
                if (::pread(file.number(), buffer.data(), block, static_cast<off_t>(place)) == static_cast<ssize_t>(block)) done += block;
            }
        });
        probe_.reads.push_back({threads, static_cast<double>(done) * B / (now() - start)});
    }

    // One page at places that no read-ahead can guess.
    void seek(int threads) {
        const int flags = O_RDONLY | (make_cold() ? O_DIRECT : 0);
        std::vector<std::vector<Seconds>> times(static_cast<std::size_t>(threads));
        const Seconds start = now();
        side_by_side(threads, [&](int thread) {
            const Buffer buffer;
            const Descriptor file = opened(large_, flags);
            ::posix_fadvise(file.number(), 0, 0, POSIX_FADV_RANDOM);
            std::mt19937_64 random(static_cast<std::uint64_t>(100 * threads + thread));
            for (int i = 0; i < seeks_at_most / threads && now() - start < s_.time_limit; ++i) {
                const Seconds before = now();
                const std::uint64_t place = random() % (size_ / page) * page;
                if (::pread(file.number(), buffer.data(), page, static_cast<off_t>(place)) == static_cast<ssize_t>(page))
                    times[static_cast<std::size_t>(thread)].push_back(now() - before);
            }
        });
        take(times, now() - start, threads, probe_.seeks, probe_.seek_rates);
    }

    // Likewise more than a page, each as far from the others as can be.
    void read_pieces() {
        const int flags = O_RDONLY | (make_cold() ? O_DIRECT : 0);
        const Buffer buffer;
        const Descriptor file = opened(large_, flags);
        ::posix_fadvise(file.number(), 0, 0, POSIX_FADV_RANDOM);
        std::vector<std::size_t> places(std::min<std::size_t>(size_ / piece, pieces_at_most));
        for (std::size_t i = 0; i < places.size(); ++i) places[i] = size_ / places.size() * i / page * page;
        std::ranges::shuffle(places, std::mt19937_64(3));
        const Seconds start = now();
        for (const std::size_t place : places) {
            const Seconds before = now();
            if (before - start > s_.time_limit) return;
            if (::pread(file.number(), buffer.data(), piece, static_cast<off_t>(place)) == static_cast<ssize_t>(piece))
                probe_.pieces.push_back(now() - before);
        }
    }

    // Each as a reader does who wants to know how long it is first.
    void open_small(int threads) {
        const int flags = O_RDONLY | (make_cold() ? O_DIRECT : 0);
        std::vector<std::vector<Seconds>> times(static_cast<std::size_t>(threads));
        const Seconds start = now();
        side_by_side(threads, [&](int thread) {
            const Buffer buffer;
            for (std::size_t i = static_cast<std::size_t>(thread); i < files_.size() && now() - start < s_.time_limit;
                 i += static_cast<std::size_t>(threads)) {
                const Seconds before = now();
                {
                    const Descriptor file = opened(files_[i], flags);
                    struct stat status {};
                    if (::fstat(file.number(), &status) != 0 || ::pread(file.number(), buffer.data(), page, 0) < 0) continue;
                }
                times[static_cast<std::size_t>(thread)].push_back(now() - before);
            }
        });
        take(times, now() - start, threads, probe_.opens, probe_.open_rates);
    }

    // First some that are new: the storage does not have them yet.
    void remove_small() {
        const Buffer buffer;
        std::vector<fs::path> fresh;
        for (int i = 0; i < new_files; ++i) fresh.push_back(create_small(folder_.path() / ("new" + std::to_string(i)), buffer));
        remove(fresh, probe_.removes_unwritten);
        remove(files_, probe_.removes);
    }
    void remove(const std::vector<fs::path>& files, std::vector<Seconds>& times) const {
        const Seconds start = now();
        for (const fs::path& file : files) {
            const Seconds before = now();
            if (before - start > s_.time_limit) return;
            fs::remove(file);
            times.push_back(now() - before);
        }
    }

    static void take(const std::vector<std::vector<Seconds>>& times, Seconds all, int threads, std::vector<Seconds>& of_one,
                     std::vector<StorageProbe::Parallel<Frequency>>& rates) {
        std::size_t count = 0;
        for (const auto& of_thread : times) count += of_thread.size();
        if (count == 0) return;
        if (threads == 1) of_one = times.front();
        rates.push_back({threads, static_cast<double>(count) / all});
    }

    // The first that fails speaks for all.
    static void side_by_side(int threads, const std::function<void(int)>& work) {
        std::vector<std::exception_ptr> failures(static_cast<std::size_t>(threads));
        {
            std::vector<std::jthread> running;
            for (int t = 0; t < threads; ++t)
                running.emplace_back([&, t] {
                    try {
                        work(t);
                    } catch (...) {
                        failures[static_cast<std::size_t>(t)] = std::current_exception();
                    }
                });
        }
        for (const std::exception_ptr& failure : failures)
            if (failure) std::rethrow_exception(failure);
    }

    const ProbeSettings& s_;
    const std::function<void(std::int64_t, std::int64_t)>& progress_;
    ProbeFolder folder_;
    fs::path large_;
    Bytes most_;
    std::size_t size_ = 0;  // of the large file
    std::vector<fs::path> files_;
    std::int64_t done_ = 0;
    StorageProbe probe_;
};

}  // namespace

StorageProbe probe_storage(const ProbeSettings& settings, const std::function<void(std::int64_t, std::int64_t)>& progress) {
    return Prober(settings, progress).run();
}

}  // namespace sextant
