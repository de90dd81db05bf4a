// Writes what a table of fields names (workload_fields.hpp, graph_fields.hpp), but for those that are as a reader would assume.
#pragma once

#include "model/io/workload/workload_fields.hpp"

#include <nlohmann/json.hpp>

namespace sextant {

template <class Spec>
struct FieldWriter {
    nlohmann::ordered_json& out;
    const Spec& spec;
    const Spec& assumed;

    template <class T, class... Rules>
    void operator()(std::string_view name, T Spec::*field, const Rules&...) const {
        if (spec.*field != assumed.*field) out[std::string(name)] = spec.*field;
    }
    template <class T, class... Rules>
    void operator()(std::string_view name, std::optional<T> Spec::*field, const Rules&...) const {
        if (spec.*field && spec.*field != assumed.*field) out[std::string(name)] = *(spec.*field);
    }
    template <class E, std::size_t N>
    void operator()(std::string_view name, std::optional<E> Spec::*field, const Word<E> (&words)[N]) const {
        if (spec.*field && spec.*field != assumed.*field) out[std::string(name)] = word_of(*(spec.*field), words);
    }
    template <class E, std::size_t N>
    void operator()(std::string_view name, E Spec::*field, const Word<E> (&words)[N]) const {
        if (spec.*field != assumed.*field) out[std::string(name)] = word_of(spec.*field, words);
    }
    template <class E, std::size_t N>
    void operator()(std::string_view name, E Spec::*field, const Word<E> (&words)[N], Needed) const {
        out[std::string(name)] = word_of(spec.*field, words);
    }
};

}  // namespace sextant
