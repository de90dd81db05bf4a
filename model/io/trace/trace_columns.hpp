// How the columns of a trace are stored in HDF5, for writer and reader.
#pragma once

#include "model/io/format/hdf5_handle.hpp"
#include "model/io/trace/span_columns.hpp"

#include <cstdint>
#include <string>
#include <type_traits>

namespace sextant {

// How a field is stored: quantities as SI doubles, enumerations by name in a byte, yes-or-no in a byte, integers as they are.
template <class T>
struct Stored {
    using Type = T;
    static Type out(T value) { return value; }
    static T in(Type value) { return value; }
};
template <int... Exponents>
struct Stored<Quantity<Exponents...>> {
    using Type = double;
    static Type out(Quantity<Exponents...> value) { return value.si(); }
    static Quantity<Exponents...> in(Type value) { return Quantity<Exponents...>::from_si(value); }
};
template <class T>
requires std::is_enum_v<T> || std::is_same_v<T, bool>
struct Stored<T> {
    using Type = std::uint8_t;
    static Type out(T value) { return static_cast<Type>(value); }
    static T in(Type value) { return static_cast<T>(value); }
};

// `column(name, field, unit)`
template <class Column>
void for_each_rank_column(Column&& column) {
    column("rank", &TraceRank::rank, "index");
    column("stage", &TraceRank::stage, "index");
    column("multiplicity", &TraceRank::multiplicity, "ranks");
    column("server", &TraceRank::server, "0 or 1");
}

// The type of a field in the file, and how it lies in memory. HDF5 converts between the two, enumerations by name.
struct ColumnType {
    Hdf5Handle file, memory;
};
inline Hdf5Handle type_copy(hid_t type) { return {H5Tcopy(type), H5Tclose}; }

template <class Enumeration>
Hdf5Handle enumeration_type(int count) {
    Hdf5Handle type(H5Tenum_create(H5T_NATIVE_UINT8), H5Tclose);
    for (int i = 0; i < count; ++i) {
        const auto value = static_cast<std::uint8_t>(i);
        H5Tenum_insert(type.id(), std::string(to_text(static_cast<Enumeration>(i))).c_str(), &value);
    }
    return type;
}

template <class T>
ColumnType column_type() {
    using Type = typename Stored<T>::Type;
    if constexpr (std::is_same_v<T, Stream>)
        return {enumeration_type<T>(stream_count), enumeration_type<T>(stream_count)};
    else if constexpr (std::is_same_v<T, SpanKind>)
        return {enumeration_type<T>(span_kind_count), enumeration_type<T>(span_kind_count)};
    else if constexpr (std::is_same_v<Type, double>)
        return {type_copy(H5T_IEEE_F64LE), type_copy(H5T_NATIVE_DOUBLE)};
    else if constexpr (std::is_same_v<Type, int>)
        return {type_copy(H5T_STD_I32LE), type_copy(H5T_NATIVE_INT)};
    else if constexpr (std::is_same_v<Type, std::uint32_t>)
        return {type_copy(H5T_STD_U32LE), type_copy(H5T_NATIVE_UINT32)};
    else if constexpr (std::is_same_v<Type, std::uint16_t>)
        return {type_copy(H5T_STD_U16LE), type_copy(H5T_NATIVE_UINT16)};
    else {
        static_assert(std::is_same_v<Type, std::uint8_t>);
        return {type_copy(H5T_STD_U8LE), type_copy(H5T_NATIVE_UINT8)};
    }
}

}  // namespace sextant
