#include "model/io/chakra/chakra_messages.hpp"

#include <algorithm>

namespace sextant::chakra {

using namespace protobuf;

int number_of(RecordedCollective c) { return std::ranges::find(collectives, c, &std::pair<int, RecordedCollective>::second)->first; }

std::string message(const std::string& bytes) { return varint(bytes.size()) + bytes; }

std::string message(const Node& n) {
    std::string fields = (n.id != 0 ? number(1, n.id) : "") + bytes(2, n.name) + number(3, n.type);
    std::string packed;
    for (const std::int64_t d : n.waits_for) packed += varint(static_cast<std::uint64_t>(d));
    if (!packed.empty()) fields += bytes(5, packed);
    return message(fields + number(7, n.micros) + n.attributes);
}

std::string global_metadata() { return message(bytes(1, "0.0.4")); }

}  // namespace sextant::chakra
