// Memory that has room for so many blocks, and knows those it has given.
#pragma once

#include "backend/exec/memory_pool.hpp"

#include <cstdlib>
#include <set>

namespace sextant {

struct CountedBlocks {
    std::size_t room = 100;
    std::set<void*> given{};

    MemorySource memory() {
        return {.alignment = 64,
                .allocate = [this](std::int64_t bytes) -> void* {
                    if (given.size() == room) return nullptr;
                    return *given.insert(std::malloc(static_cast<std::size_t>(bytes))).first;
                },
                .release =
                    [this](void* block) {
                        given.erase(block);
                        std::free(block);
                    }};
    }
};

}  // namespace sextant
