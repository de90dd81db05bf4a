// Fields of Protocol Buffers as they lie in a file (protobuf.dev, "Encoding"), in a few functions; protobuf_fields.hpp reads them.
#pragma once

#include <cstdint>
#include <string>

namespace sextant::protobuf {

inline std::string varint(std::uint64_t value) {
    std::string text;
    for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
    return text + static_cast<char>(value);
}
inline std::string number(int field, std::int64_t value) {
    return varint(static_cast<std::uint64_t>(field) << 3) + varint(static_cast<std::uint64_t>(value));
}
inline std::string bytes(int field, const std::string& value) {
    return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(value.size()) + value;
}

}  // namespace sextant::protobuf
