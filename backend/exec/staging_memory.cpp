#include "backend/exec/staging_memory.hpp"

#include "backend/exec/routing.hpp"
#include "model/base/ceil_divide.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <string>

namespace sextant {

// Rows for experts are others in every step: in room of a few sizes, which fits again.
Array StagingMemory::take(std::int64_t elements, Element element) {
    const std::int64_t line = ordinary_.alignment, bytes = ceil_divide(room_for(elements) * bytes_of(element), line) * line;
    std::vector<Room>& rooms = rooms_[bytes];
    auto room = std::ranges::find_if(rooms, &Room::is_idle);
    if (room == rooms.end()) {
        void* memory = ordinary_.allocate(bytes);
        if (memory == nullptr) throw BackendError("out of memory: " + std::to_string(bytes) + " bytes were refused");
        room = rooms.insert(room, Room{{memory, ordinary_.release}});
    }
    return {room->memory, elements, element};
}

void StagingMemory::settle() {
    for (auto& [bytes, rooms] : rooms_)
        for (Room& room : rooms) {
            if (room.fast || !room.is_idle()) continue;
            if (void* memory = fast_.allocate(bytes)) room = {{memory, fast_.release}, true};
        }
}

}  // namespace sextant
