// Reads what a table of fields names (workload_fields.hpp, graph_fields.hpp).
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/io/workload/workload_fields.hpp"

namespace sextant {

template <class Spec>
struct FieldReader {
    ObjectReader& reader;
    Spec& spec;

    template <class T, class... Rules>
    void operator()(std::string_view name, T Spec::*field, const Rules&... rules) const {
        reader.optional(name, spec.*field, rules...);
    }
    template <class E, std::size_t N>
    void operator()(std::string_view name, E Spec::*field, const Word<E> (&words)[N]) const {
        reader.word(name, spec.*field, words);
    }
    template <class E, std::size_t N>
    void operator()(std::string_view name, E Spec::*field, const Word<E> (&words)[N], Needed) const {
        reader.required_word(name, spec.*field, words);
    }
    template <class E, std::size_t N>
    void operator()(std::string_view name, std::optional<E> Spec::*field, const Word<E> (&words)[N]) const {
        if (E found{}; reader.word(name, found, words)) spec.*field = found;
    }
};

}  // namespace sextant
