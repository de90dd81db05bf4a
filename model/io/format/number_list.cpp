#include "model/io/format/number_list.hpp"

#include "model/base/diagnostics.hpp"
#include "model/base/parse_number.hpp"

#include <algorithm>
#include <cstdint>

namespace sextant {
namespace {

constexpr int largest_number = 1'000'000;

// `said`: the option with all that was written behind it.
int number_in(const std::string& text, const std::string& said) {
    const auto value = parse_number<int>(text);
    if (!value || *value < 1 || *value > largest_number)
        throw InputError(
            Diagnostic{said, "", "\"" + text + "\" is no number from 1 to " + std::to_string(largest_number), "as in 8, 8,16,64 or 8..64"});
    return *value;
}

std::vector<int> range_of(int first, int last, std::optional<int> step, const std::string& said) {
    if (last < first) throw InputError(Diagnostic{said, "", "the range ends before it begins", "as in 8..64"});
    std::vector<int> numbers;
    for (std::int64_t n = first; n <= last; n = step ? n + *step : 2 * n) numbers.push_back(static_cast<int>(n));
    return numbers;
}

}  // namespace

std::vector<int> numbers_in(const std::string& text, const std::string& option, std::optional<int> step) {
    const std::string said = option + " " + text;
    const auto dots = text.find("..");
    if (dots != std::string::npos)
        return range_of(number_in(text.substr(0, dots), said), number_in(text.substr(dots + 2), said), step, said);
    std::vector<int> numbers;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        numbers.push_back(number_in(text.substr(at, comma - at), said));
        at = comma + 1;
    }
    return numbers;
}

}  // namespace sextant
