#include "backend/storage/example_record.hpp"

#include "backend/storage/dataset.hpp"
#include "backend/storage/file.hpp"
#include "backend/storage/sample_names.hpp"

namespace sextant {
namespace {

constexpr std::string_view bytes_feature = "image/encoded", label_feature = "image/class/label";
// The numbers of the fields of Example, Features, an entry of its map, Feature, BytesList and Int64List.
constexpr std::uint32_t features = 1, feature = 1, key = 1, value = 2, bytes_list = 1, int64_list = 3, list_value = 1;
constexpr std::uint32_t is_varint = 0, is_fixed64 = 1, is_delimited = 2, is_fixed32 = 5;  // wire types

void append_varint(Blob& to, std::uint64_t number) {
    for (; number > 127; number >>= 7) to.push_back(static_cast<std::uint8_t>(number | 128));
    to.push_back(static_cast<std::uint8_t>(number));
}
void append_field(Blob& to, std::uint32_t number, BlobView bytes) {
    append_varint(to, number << 3 | is_delimited);
    append_varint(to, bytes.size());
    append_bytes(to, bytes);
}

struct Field {
    std::uint32_t number = 0;
    std::uint64_t varint = 0;
    BlobView bytes;
};

// The fields of a message, one after the other.
class Fields {
public:
    explicit Fields(BlobView message) : rest_(message) {}

    bool next(Field& field) {
        if (rest_.empty()) return false;
        const std::uint64_t tag = varint();
        field = {static_cast<std::uint32_t>(tag >> 3), 0, {}};
        switch (tag & 7) {
            case is_varint: field.varint = varint(); break;
            case is_fixed64: field.bytes = take(8); break;
            case is_delimited: field.bytes = take(varint()); break;
            case is_fixed32: field.bytes = take(4); break;
            default: throw_damage("its record is no tf.train.Example");
        }
        return true;
    }
    std::uint64_t varint() {
        std::uint64_t number = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint8_t byte = take(1)[0];
            number |= std::uint64_t{byte & 127U} << shift;
            if (byte < 128) return number;
        }
        throw_damage("its record has a number without an end");
    }

private:
    BlobView take(std::uint64_t bytes) {
        if (bytes > rest_.size()) throw_damage("its record is cut off");
        const BlobView taken = rest_.first(bytes);
        rest_ = rest_.subspan(bytes);
        return taken;
    }

    BlobView rest_;
};

// The last field of this number, as the format has it; empty where there is none.
BlobView last(BlobView message, std::uint32_t number) {
    BlobView found;
    Fields fields(message);
    for (Field f; fields.next(f);)
        if (f.number == number) found = f.bytes;
    return found;
}

std::int64_t integer_of(BlobView list) {
    Fields fields(list);
    for (Field f; fields.next(f);)
        if (f.number == list_value)
            return static_cast<std::int64_t>(f.bytes.empty() ? f.varint : Fields(f.bytes).varint());  // packed, or not
    throw_damage("its label is missing");
}

}  // namespace

Blob example_record(const Sample& sample) {
    const auto wrap = [](std::uint32_t number, BlobView bytes) {
        Blob message;
        append_field(message, number, bytes);
        return message;
    };
    Blob map, label;
    const auto add = [&](std::string_view name, BlobView content) {
        Blob entry;
        append_field(entry, key, view_of(name));
        append_field(entry, value, content);
        append_field(map, feature, entry);
    };
    append_varint(label, static_cast<std::uint64_t>(sample.label));
    add(label_feature, wrap(int64_list, wrap(list_value, label)));
    add(bytes_feature, wrap(bytes_list, wrap(list_value, as_file(sample))));
    return wrap(features, map);
}

void read_example(BlobView record, Sample& into) {
    bool found = false;
    into.label = 0;
    into.extents.clear();
    Fields entries(last(record, features));
    for (Field entry; entries.next(entry);) {
        if (entry.number != feature) continue;
        const std::string_view name = text_of(last(entry.bytes, key));
        if (name == bytes_feature) {
            const BlobView bytes = last(last(last(entry.bytes, value), bytes_list), list_value);
            into.bytes.assign(bytes.begin(), bytes.end());
            found = true;
        } else if (name == label_feature) {
            into.label = integer_of(last(last(entry.bytes, value), int64_list));
        }
    }
    if (!found) throw_damage("its record has no feature \"" + std::string(bytes_feature) + "\"");
}

}  // namespace sextant
