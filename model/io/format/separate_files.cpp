#include "model/io/format/separate_files.hpp"

#include "model/base/diagnostics.hpp"

#include <algorithm>

namespace sextant {

std::filesystem::path place_of(const std::filesystem::path& path) {
    std::error_code error;
    std::filesystem::path place = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
    return error ? path : place;
}

void check_apart(const std::vector<std::filesystem::path>& outputs, const std::set<std::filesystem::path>& inputs) {
    namespace fs = std::filesystem;
    Diagnostics problems;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].empty() || (fs::exists(outputs[i]) && !fs::is_regular_file(outputs[i]))) continue;
        const auto is_same = [place = place_of(outputs[i])](const fs::path& other) { return !other.empty() && place_of(other) == place; };
        if (std::ranges::any_of(inputs, is_same))
            problems.add({outputs[i].string(), "", "is read, and would be written over", "another name"});
        else if (std::any_of(outputs.begin() + static_cast<std::ptrdiff_t>(i) + 1, outputs.end(), is_same))
            problems.add({outputs[i].string(), "", "would be written twice", "a name for each"});
    }
    problems.throw_if_any();
}

}  // namespace sextant
