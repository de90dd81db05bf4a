// Keeps released memory and hands it out again: every micro-batch wants the same sizes, and fresh memory of the system costs more than most
// operators. What was not wanted for a whole step goes back to the system, because experts have other sizes in every step.
//
// A device whose calls return early may still use memory that was released. This does not matter to the thread that calls for its work,
// because whatever it calls for with the same memory runs later. Other threads do not have that order, so what they release is kept apart,
// and handed to them again only when the device has done all that was called for before the release.
#pragma once

#include "backend/exec/device.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace sextant {

struct MemorySource {
    std::int64_t alignment = 64;
    std::function<void*(std::int64_t bytes)> allocate;  // null when it is refused
    std::function<void(void*)> release;
    // Of a device whose calls return before their work is done; else empty.
    std::function<Mark()> mark{};
    std::function<bool(const Mark&)> reached{};
    // Whether the same requests in the same order get the same memory, whatever order it was released in. Captured launches can be run
    // again only if they do.
    bool repeats = false;
};

// Memory of the system, aligned to cache lines.
MemorySource host_memory();

// To be made by the thread that calls for the device's work. Any thread may take and release memory, which may outlive the pool.
class MemoryPool {
public:
    explicit MemoryPool(MemorySource source) : shelf_(std::make_shared<Shelf>(std::move(source))) {}

    // Throws BackendError when there is no room, even after all idle memory has been given back.
    std::shared_ptr<void> take(std::int64_t bytes);
    [[nodiscard]] std::int64_t in_use() const;
    [[nodiscard]] std::int64_t peak() const;
    void begin_step();

private:
    struct Idle {
        void* memory;
        std::int64_t since;  // the step in which it was released
        Mark free_at{};      // for what other threads take
    };
    static void put_back(std::vector<Idle>&, const Idle&, bool in_order);
    class Shelf {
    public:
        explicit Shelf(MemorySource s) : source(std::move(s)) {}
        Shelf(const Shelf&) = delete;
        Shelf& operator=(const Shelf&) = delete;
        ~Shelf() { clear(); }
        void clear();
        void release_if(const std::function<bool(const Idle&)>&);

        const MemorySource source;
        const std::thread::id owner = std::this_thread::get_id();
        std::mutex mutex;
        std::map<std::int64_t, std::vector<Idle>> idle, beside;  // by size: the owner's, and those of other threads
        std::int64_t in_use = 0, peak = 0, step = 0;
    };
    std::shared_ptr<Shelf> shelf_;
};

}  // namespace sextant
