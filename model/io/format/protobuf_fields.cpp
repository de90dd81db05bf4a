#include "model/io/format/protobuf_fields.hpp"

#include <bit>

namespace sextant {
namespace {

// Seven bits a byte, the lowest first; the eighth says that more follow.
std::optional<std::uint64_t> take_varint(std::string_view& from) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !from.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(from.front());
        from.remove_prefix(1);
        value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80) return value;
    }
    return {};
}

// The lowest byte first.
std::optional<std::uint64_t> take_fixed(std::string_view& from, std::size_t bytes) {
    if (from.size() < bytes) return {};
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(from[i]);
    from.remove_prefix(bytes);
    return value;
}

std::optional<std::string_view> take_bytes(std::string_view& from) {
    const auto length = take_varint(from);
    if (!length || *length > from.size()) return {};
    const std::string_view taken = from.substr(0, *length);
    from.remove_prefix(*length);
    return taken;
}

}  // namespace

bool ProtobufFields::next(ProtobufField& field) {
    if (rest_.empty() || broken_) return false;
    const auto key = take_varint(rest_);
    const auto kind = key.value_or(7) & 7;
    field = {.number = static_cast<std::uint32_t>(key.value_or(0) >> 3), .is_number = kind != 2};
    if (kind == 2) {
        const auto bytes = take_bytes(rest_);
        broken_ = !bytes;
        field.bytes = bytes.value_or("");
    } else {  // 3 and 4 are groups, which nobody writes any more
        const auto number = kind == 0   ? take_varint(rest_)
                            : kind == 1 ? take_fixed(rest_, 8)
                            : kind == 5 ? take_fixed(rest_, 4)
                                        : std::optional<std::uint64_t>();
        broken_ = !number;
        field.value = number.value_or(0);
    }
    return !broken_;
}

std::optional<std::string_view> take_message(std::string_view& from) { return take_bytes(from); }

void add_fixed_integers(std::string_view bytes, std::vector<std::int64_t>& list) {
    while (const auto next = take_fixed(bytes, 8)) list.push_back(static_cast<std::int64_t>(*next));
}

void add_fixed_reals(std::string_view bytes, std::vector<double>& list) {
    while (const auto next = take_fixed(bytes, 4)) list.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(*next)));
}

void ProtobufField::add_reals(std::vector<double>& list) const {
    if (is_number) list.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(value)));
    add_fixed_reals(bytes, list);
}

void ProtobufField::add_integers(std::vector<std::int64_t>& list) const {
    if (is_number) list.push_back(integer());
    std::string_view rest = bytes;
    while (!rest.empty()) {
        const auto next = take_varint(rest);
        if (!next) return;
        list.push_back(static_cast<std::int64_t>(*next));
    }
}

}  // namespace sextant
