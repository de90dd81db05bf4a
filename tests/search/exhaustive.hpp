// The answer of a search, found by preparing and estimating every plan of the space: slow, and plainly right.
#pragma once

#include "model/search/search.hpp"

namespace sextant {

SearchResult search_exhaustively(const SearchRequest&);

}  // namespace sextant
