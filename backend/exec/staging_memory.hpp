// Host memory through which arrays of a device are exchanged.
//
// A device copies fastest from pinned memory. But pinning waits for all work of the device, and that may be an exchange whose other ranks
// wait in the same way. So memory is pinned only while no exchange is under way. Until then callers get ordinary memory, from which copies
// are slower. One thread makes all calls.
#pragma once

#include "backend/exec/memory_pool.hpp"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace sextant {

class StagingMemory {
public:
    explicit StagingMemory(MemorySource fast) : fast_(std::move(fast)) {}

    Array take(std::int64_t elements, Element);
    // To be called when no exchange is under way: from now on, sizes that were taken so far come from fast memory while it lasts.
    void settle();

private:
    struct Room {
        std::shared_ptr<void> memory;
        bool fast = false;
        [[nodiscard]] bool is_idle() const { return memory.use_count() == 1; }
    };

    MemorySource fast_, ordinary_ = host_memory();
    std::map<std::int64_t, std::vector<Room>> rooms_;  // by bytes
};

}  // namespace sextant
