// Memory that is handed out again once it comes back: the same sizes are wanted in every micro-batch, and fresh memory of the system costs
// more than most operators.
//
// What nobody wanted for a whole step goes back to the system: experts have other sizes in every step.
//
// A device that returns before the work is done may still use what comes back. To the thread that calls for its work that does not matter:
// whatever it calls for with the same memory runs behind. What other threads take is therefore kept apart: it is handed to them again only
// when all is done that was called for before it came back.
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
    // Of a device that returns before the work is done; else none.
    std::function<Mark()> mark{};
    std::function<bool(const Mark&)> reached{};
    // The same requests in the same order get the same memory, in whatever order it came back: what was captured with it can be run again.
    bool repeats = false;
};

// Of the system, in lines of the cache.
MemorySource host_memory();

// Made by the thread that calls for the device's work. Blocks may outlive the pool, and come from and go back to it on any thread.
class MemoryPool {
public:
    explicit MemoryPool(MemorySource source) : shelf_(std::make_shared<Shelf>(std::move(source))) {}

    // Throws BackendError when even what lies idle, given back, does not make room.
    std::shared_ptr<void> take(std::int64_t bytes);
    [[nodiscard]] std::int64_t in_use() const;
    [[nodiscard]] std::int64_t peak() const;
    void reset_peak();
    void begin_step();

private:
    struct Idle {
        void* memory;
        std::int64_t since;  // the step in which it came back
        Mark free_at{};      // of what other threads take
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
