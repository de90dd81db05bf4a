#include "model/io/scenario/slurm_lists.hpp"

#include "model/base/parse_number.hpp"

#include <algorithm>
#include <functional>

namespace sextant {
namespace {

constexpr std::size_t most_nodes = 1'000'000;

std::optional<int> number(std::string_view text) {
    const auto n = parse_number<int>(text);
    return n && *n >= 0 ? n : std::nullopt;
}

// At commas outside brackets.
std::vector<std::string_view> parts(std::string_view list) {
    std::vector<std::string_view> found;
    std::size_t begin = 0;
    int open = 0;
    for (std::size_t i = 0; i <= list.size(); ++i) {
        if (i < list.size() && list[i] == '[') ++open;
        if (i < list.size() && list[i] == ']') --open;
        if (i < list.size() && (list[i] != ',' || open > 0)) continue;
        found.push_back(list.substr(begin, i - begin));
        begin = i + 1;
    }
    return found;
}

// "3", or "3-5".
bool add_range(std::string_view range, std::vector<int>& numbers) {
    const std::size_t dash = range.find('-');
    const auto first = number(range.substr(0, dash)), last = dash == std::string_view::npos ? first : number(range.substr(dash + 1));
    if (!first || !last || *last < *first || static_cast<std::size_t>(*last - *first) >= most_nodes - numbers.size()) return false;
    for (int n = *first; n <= *last; ++n) numbers.push_back(n);
    return true;
}

}  // namespace

std::optional<std::vector<int>> read_repeated_counts(std::string_view list) {
    std::vector<int> counts;
    for (std::string_view part : parts(list)) {
        int times = 1;
        if (const std::size_t open = part.find("(x"); open != std::string_view::npos && part.ends_with(')')) {
            const auto repeated = number(part.substr(open + 2, part.size() - open - 3));
            if (!repeated || *repeated < 1) return {};
            times = *repeated;
            part = part.substr(0, open);
        }
        const auto count = number(part);
        if (!count || static_cast<std::size_t>(times) > most_nodes - counts.size()) return {};
        counts.insert(counts.end(), static_cast<std::size_t>(times), *count);
    }
    return counts;
}

std::optional<std::vector<int>> read_node_list(std::string_view list) {
    constexpr std::string_view digits = "0123456789";
    std::vector<int> numbers;
    std::optional<std::string_view> name;
    for (const std::string_view part : parts(list)) {
        const std::size_t open = part.find('[');
        const bool bracketed = open != std::string_view::npos && part.ends_with(']');
        const std::size_t end = bracketed ? open : part.find_last_not_of(digits) + 1;
        if (name.value_or(part.substr(0, end)) != part.substr(0, end)) return {};
        name = part.substr(0, end);
        const std::string_view ranges = bracketed ? part.substr(open + 1, part.size() - open - 2) : part.substr(end);
        if (!bracketed && (open != std::string_view::npos || !number(ranges))) return {};
        for (const std::string_view range : parts(ranges))
            if (!add_range(range, numbers)) return {};
    }
    if (std::ranges::adjacent_find(numbers, std::greater_equal<>()) != numbers.end()) return {};
    return numbers;
}

}  // namespace sextant
