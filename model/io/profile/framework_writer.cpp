#include "model/io/profile/framework_writer.hpp"

#include "model/io/format/json_reader.hpp"
#include "model/io/format/json_text.hpp"
#include "model/io/profile/sourced_json.hpp"

namespace sextant {

std::string framework_to_profile(const std::filesystem::path& file, const Framework& measured) {
    Diagnostics diagnostics;
    const JsonFile read = JsonFile::load(file, diagnostics);
    diagnostics.throw_if_any();
    nlohmann::ordered_json framework = *read.root().value;
    framework["dispatch"] = sourced_json(measured.dispatch);
    framework["backward_dispatch"] = sourced_json(measured.backward_dispatch);
    framework["step_overhead"] = sourced_json(measured.step_overhead);
    if (framework.contains("bytes_in_flight")) framework["bytes_in_flight"] = sourced_json(measured.bytes_in_flight);
    framework["attention_efficiency"] = sourced_json(measured.attention_efficiency);
    framework["convolution_efficiency"] = sourced_json(measured.convolution_efficiency);
    return json_document(framework);
}

}  // namespace sextant
