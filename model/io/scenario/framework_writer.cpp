#include "model/io/scenario/framework_writer.hpp"

#include "model/base/quantity_text.hpp"
#include "model/io/format/json_reader.hpp"
#include "model/io/format/json_text.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

constexpr int digits = 9;

Json value_of(double number) { return number; }
Json value_of(Seconds time) { return to_text(time, digits); }

template <class T>
Json json_of(const Sourced<T>& n) {
    return {{"value", value_of(n.value)}, {"kind", to_text(n.kind)}, {"source", n.source}};
}

}  // namespace

std::string framework_to_profile(const std::filesystem::path& file, const Framework& measured) {
    Diagnostics diagnostics;
    const JsonFile read = JsonFile::load(file, diagnostics);
    diagnostics.throw_if_any();
    Json framework = *read.root().value;
    framework["dispatch"] = json_of(measured.dispatch);
    framework["backward_dispatch"] = json_of(measured.backward_dispatch);
    framework["step_overhead"] = json_of(measured.step_overhead);
    framework["attention_efficiency"] = json_of(measured.attention_efficiency);
    framework["convolution_efficiency"] = json_of(measured.convolution_efficiency);
    return json_document(framework);
}

}  // namespace sextant
