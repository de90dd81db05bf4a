// Words as people write them: what a mistyped one may have meant, which a text has, whatever their case, and what of it can be shown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

std::string lower_case(std::string_view);

// What is left where people may write "all-reduce", "AllReduce" or "all_reduce": letters and digits alone, in lower case.
std::string letters_and_digits(std::string_view);

// Without the white space around it.
std::string_view trimmed(std::string_view);

// With '?' for each control character but line feeds and tabs, which a terminal would obey, and for each byte that is no UTF-8.
std::string printable(std::string);

// Every text mentions the empty word.
bool mentions(std::string_view text, std::string_view word);

// Up to `limit` of the names, nearest first: those that are, or of which some words are or begin, within a quarter of the word's length
// of edits (Levenshtein), then those that contain the word or are contained in it, then those within half its length. Case does not
// matter. Ties keep the order of `names`.
std::vector<std::string> nearest_names(std::string_view word, const std::vector<std::string_view>& names, std::size_t limit = 1);

// The same of names that are told apart by their numbers, as models are: up to there, these are alike, and nothing is guessed. Near
// "llama-3.1-8" is "llama-3.1-8b", near "llama-3.2-1b" no "llama-2-7b".
std::vector<std::string> nearest_numbered_names(std::string_view word, const std::vector<std::string_view>& names, std::size_t limit = 1);

// "did you mean "a", "b"?" of such names; nothing where there are none.
std::string did_you_mean(const std::vector<std::string>& near);

// The same where `sextant profiles list` has all the names that may be meant, which are too many to be read here.
std::string hint_for_profile(const std::vector<std::string>& near);

// What helps who wrote a word that is none of these: the nearest, and all of them unless there are so many that they would hide it.
std::string hint_for(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace sextant
