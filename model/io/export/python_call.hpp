// Python as it is exported: comments, and a call with its arguments by name.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sextant {

using PythonArguments = std::vector<std::pair<std::string, std::string>>;  // names, and values as Python has them

// `begin` is what the call is assigned to and called: "trainer = lightning.Trainer".
inline std::string python_call(const std::string& begin, const PythonArguments& arguments) {
    std::string text = begin + "(\n";
    for (const auto& [name, value] : arguments) text.append("    ").append(name).append("=").append(value).append(",\n");
    return text + ")\n";
}

inline std::string python_comments(const std::vector<std::string>& notes) {
    std::string text;
    for (const std::string& note : notes) text += "# " + note + "\n";
    return text;
}

}  // namespace sextant
