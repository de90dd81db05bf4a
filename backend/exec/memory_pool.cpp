#include "backend/exec/memory_pool.hpp"

#include "model/base/ceil_divide.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace sextant {

MemorySource host_memory() {
    constexpr std::int64_t line = 64;  // of the cache; and the widest vectors
    return {.alignment = line,
            .allocate = [](std::int64_t bytes) { return std::aligned_alloc(line, static_cast<std::size_t>(bytes)); },
            .release = [](void* memory) { std::free(memory); }};
}

void MemoryPool::Shelf::release_if(const std::function<bool(const Idle&)>& goes) {
    for (auto* shelf : {&idle, &beside})
        for (auto& [size, blocks] : *shelf)
            std::erase_if(blocks, [&](const Idle& block) {
                const bool gone = goes(block);
                if (gone) source.release(block.memory);
                return gone;
            });
}

void MemoryPool::Shelf::clear() {
    release_if([](const Idle&) { return true; });
}

void MemoryPool::put_back(std::vector<Idle>& blocks, const Idle& block, bool in_order) {
    const auto is_lower = [](const Idle& a, const Idle& b) { return std::less<>()(a.memory, b.memory); };
    blocks.insert(in_order ? std::ranges::upper_bound(blocks, block, is_lower) : blocks.end(), block);
}

std::shared_ptr<void> MemoryPool::take(std::int64_t bytes) {
    Shelf& shelf = *shelf_;
    const std::int64_t size = std::max<std::int64_t>(1, ceil_divide(bytes, shelf.source.alignment)) * shelf.source.alignment;
    const bool apart = shelf.source.mark && std::this_thread::get_id() != shelf.owner;
    const std::lock_guard lock(shelf.mutex);
    std::vector<Idle>& blocks = (apart ? shelf.beside : shelf.idle)[size];
    void* memory = nullptr;
    if (!blocks.empty() && (!apart || shelf.source.reached(blocks.front().free_at))) {
        // The owner takes what came back last, which caches may still hold, or what lies highest; others what came back first.
        const auto block = apart ? blocks.begin() : std::prev(blocks.end());
        memory = block->memory;
        blocks.erase(block);
    } else {
        memory = shelf.source.allocate(size);
        if (memory == nullptr) {
            shelf.clear();
            memory = shelf.source.allocate(size);
        }
        if (memory == nullptr) throw BackendError("out of memory: " + std::to_string(size) + " bytes were refused");
    }
    shelf.in_use += size;
    shelf.peak = std::max(shelf.peak, shelf.in_use);
    return {memory, [held = shelf_, size, apart](void* block) {
                const std::lock_guard lock_again(held->mutex);
                held->in_use -= size;
                if (apart)
                    held->beside[size].push_back({block, held->step, held->source.mark()});
                else
                    put_back(held->idle[size], {block, held->step}, held->source.repeats);
            }};
}

std::int64_t MemoryPool::in_use() const {
    const std::lock_guard lock(shelf_->mutex);
    return shelf_->in_use;
}

std::int64_t MemoryPool::peak() const {
    const std::lock_guard lock(shelf_->mutex);
    return shelf_->peak;
}

void MemoryPool::begin_step() {
    const std::lock_guard lock(shelf_->mutex);
    const std::int64_t now = ++shelf_->step;
    shelf_->release_if([now](const Idle& block) { return now - block.since > 1; });
}

}  // namespace sextant
