#include "model/base/spelling.hpp"

#include "model/base/list_text.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace sextant {
namespace {

constexpr std::size_t longest_word = 64;  // beyond it, comparing costs more than the hint is worth
constexpr std::size_t shortest_part = 3;  // fewer letters are a part of anything

// From `a` to each beginning of `b`, the empty one and all of it included.
std::vector<std::size_t> edit_distances(std::string_view a, std::string_view b) {
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
    return row;
}

// The edit distance between a word and the part of the text that is nearest to it, among the parts that begin where a word of the text
// does.
std::size_t distance_within(std::string_view word, std::string_view text) {
    std::size_t nearest = word.size();
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0) continue;
        const std::size_t longest = 2 * word.size();  // what is longer is farther away than nothing is
        nearest = std::min(nearest, std::ranges::min(edit_distances(word, text.substr(i, longest))));
    }
    return nearest;
}

enum class Rank { slip, part, guess };  // a slip of the finger, a part of the name

struct Candidate {
    Rank rank;
    std::size_t within, distance;  // of a part of the name, of all of it
    std::string_view name;
};

// "llama-3.1-8b": 3.1 and 8.
std::vector<std::string_view> numbers_in(std::string_view text) {
    constexpr std::string_view digits = "0123456789";
    std::vector<std::string_view> numbers;
    for (std::size_t begin = text.find_first_of(digits); begin != std::string_view::npos; begin = text.find_first_of(digits, begin)) {
        std::size_t end = text.find_first_not_of("0123456789.", begin);
        if (end == std::string_view::npos) end = text.size();
        const std::string_view number = text.substr(begin, end - begin);
        numbers.push_back(number.substr(0, number.find_last_not_of('.') + 1));
        begin = end;
    }
    return numbers;
}

// As far as both go.
bool begin_alike(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
    const std::size_t both = std::min(a.size(), b.size());
    return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(both), b.begin());
}

std::vector<std::string> names_of(const std::vector<Candidate>& candidates, std::size_t limit) {
    std::vector<std::string> names;
    for (const Candidate& c : candidates)
        if (names.size() < limit) names.emplace_back(c.name);
    return names;
}

char lower_case(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Nearest first.
std::vector<Candidate> candidates(std::string_view word, const std::vector<std::string_view>& names) {
    if (word.empty() || word.size() > longest_word) return {};
    const std::string wanted = sextant::lower_case(word);
    std::vector<Candidate> found;
    for (const std::string_view name : names) {
        const std::string text = sextant::lower_case(name.substr(0, 2 * longest_word));
        const bool contained = wanted.size() >= shortest_part && text.size() >= shortest_part &&
                               (text.find(wanted) != std::string::npos || wanted.find(text) != std::string::npos);
        const std::size_t distance = edit_distances(wanted, text).back();
        const std::size_t within = wanted.size() > shortest_part ? distance_within(wanted, text) : distance;
        const bool slip = within <= std::max<std::size_t>(1, wanted.size() / 4);
        if (slip || contained || distance <= wanted.size() / 2)
            found.push_back({slip ? Rank::slip : contained ? Rank::part : Rank::guess, within, distance, name});
    }
    std::ranges::stable_sort(found, {}, [](const Candidate& c) { return std::tuple(c.rank, c.within, c.distance); });
    return found;
}

// The length of the UTF-8 character that the text begins with; 0 where it begins with none.
std::size_t character_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t bytes = byte(0) < 0x80 ? 1 : byte(0) < 0xc2 ? 0 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : byte(0) < 0xf5 ? 4 : 0;
    for (std::size_t i = 1; i < bytes; ++i)
        if (i == text.size() || (byte(i) & 0xc0) != 0x80) return 0;
    return bytes;
}

}  // namespace

std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = lower_case(c);
    return out;
}

std::string letters_and_digits(std::string_view text) {
    std::string out = lower_case(text);
    std::erase_if(out, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
    return out;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view space = " \t\r\n";
    const std::size_t first = std::min(text.find_first_not_of(space), text.size());
    return text.substr(first, text.find_last_not_of(space) + 1 - first);
}

std::string printable(std::string text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = character_bytes(std::string_view(text).substr(at));
        const auto code = static_cast<unsigned char>(text[at]);
        if (bytes == 0 || (code < 0x20 && text[at] != '\n' && text[at] != '\t') || code == 0x7f) text[at] = '?';
        at += std::max<std::size_t>(1, bytes);
    }
    return text;
}

bool mentions(std::string_view text, std::string_view word) {
    const auto same = [](char a, char b) { return lower_case(a) == lower_case(b); };
    return word.empty() || std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

std::vector<std::string> nearest_names(std::string_view word, const std::vector<std::string_view>& names, std::size_t limit) {
    return names_of(candidates(word, names), limit);
}

std::vector<std::string> nearest_numbered_names(std::string_view word, const std::vector<std::string_view>& names, std::size_t limit) {
    std::vector<Candidate> near = candidates(word, names);
    const std::vector<std::string_view> numbers = numbers_in(word);
    std::erase_if(near, [&](const Candidate& c) { return c.rank == Rank::guess || !begin_alike(numbers, numbers_in(c.name)); });
    return names_of(near, limit);
}

std::string did_you_mean(const std::vector<std::string>& near) {
    return near.empty() ? "" : "did you mean \"" + joined(near, {}, "\", \"") + "\"?";
}

std::string hint_for_profile(const std::vector<std::string>& near) {
    std::string hint = did_you_mean(near);
    append_to_list(hint, "`sextant profiles list` has all names; one of your own is a .json file", " ");
    return hint;
}

std::string hint_for(std::string_view word, const std::vector<std::string_view>& known) {
    constexpr std::size_t readable = 40;
    std::string hint = did_you_mean(nearest_names(word, known));
    if (known.empty() || (!hint.empty() && known.size() > readable)) return hint;
    append_to_list(hint, "one of: " + joined(known), " ");
    return hint;
}

}  // namespace sextant
