// Memory of the host through which a device's arrays come and go.
//
// To make memory that a device copies from fast (to pin it) is to wait for all that goes on in the device: for an exchange too, whose other
// ranks may wait likewise. So that is done when nothing is under way. What is wanted before is ordinary memory, from which copies are
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
    // Nothing is under way: all rooms that were wanted so far are of fast memory from now on, as far as that goes.
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
