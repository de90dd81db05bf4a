// Memory of the host through which a device's arrays come and go.
//
// Pinning memory, so that a device copies from it fast, waits for all that goes on in the device. That may be an exchange whose other ranks
// wait in the same way, so memory is pinned only while nothing is under way. Until then, callers get ordinary memory, from which copies are
// slower. One thread makes all calls.
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
    // To be called when nothing is under way: what was taken so far comes from fast memory from now on, as far as there is enough.
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
