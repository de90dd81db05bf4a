#include "model/base/spelling.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace sextant {
namespace {

constexpr std::size_t longest_word = 64;  // beyond it, comparing costs more than the hint is worth

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substitution = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
        }
    }
    return row[b.size()];
}

char lower_case(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = lower_case(c);
    return out;
}

std::string printable(std::string text) {
    for (char& c : text)
        if (const auto code = static_cast<unsigned char>(c); (code < 0x20 && c != '\n' && c != '\t') || code == 0x7f) c = '?';
    return text;
}

bool mentions(std::string_view text, std::string_view word) {
    const auto same = [](char a, char b) { return lower_case(a) == lower_case(b); };
    return word.empty() || std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

std::vector<std::string> nearest_names(std::string_view word, const std::vector<std::string_view>& names, std::size_t limit) {
    if (word.empty() || word.size() > longest_word) return {};
    struct Candidate {
        int rank;  // a slip of the finger, a part of the name, a guess
        std::size_t distance;
        std::string_view name;
    };
    const std::string wanted = lower_case(word);
    std::vector<Candidate> candidates;
    for (const std::string_view name : names) {
        const std::string text = lower_case(name.substr(0, 2 * longest_word));
        const bool contained =
            wanted.size() >= 3 && text.size() >= 3 && (text.find(wanted) != std::string::npos || wanted.find(text) != std::string::npos);
        const std::size_t distance = edit_distance(wanted, text);
        const bool slip = distance <= std::max<std::size_t>(1, wanted.size() / 4);
        if (contained || distance <= wanted.size() / 2) candidates.push_back({slip ? 0 : contained ? 1 : 2, distance, name});
    }
    std::ranges::stable_sort(candidates, {}, [](const Candidate& c) { return std::pair(c.rank, c.distance); });
    std::vector<std::string> out;
    for (const Candidate& c : candidates)
        if (out.size() < limit) out.emplace_back(c.name);
    return out;
}

std::string hint_for(std::string_view word, const std::vector<std::string_view>& known) {
    constexpr std::size_t readable = 40;
    const std::vector<std::string> near = nearest_names(word, known);
    std::string hint = near.empty() ? "" : "did you mean \"" + near.front() + "\"?", list;
    if (!near.empty() && known.size() > readable) return hint;
    for (const std::string_view name : known) list.append(list.empty() ? "one of: " : ", ").append(name);
    return hint + (near.empty() ? "" : " ") + list;
}

}  // namespace sextant
