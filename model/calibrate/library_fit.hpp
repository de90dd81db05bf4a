// Parameters of communication libraries from published curves of their calls.
//
// What a call costs beyond the links, and what a protocol or a process moves at most: each belongs to one library and acts in every
// prediction that has it. Found by fit.hpp, which begins at the value that the library's profile has: since an earlier fit left it there,
// it has no other say, and the same calls twice find the same. Only the calls that are handed in are looked at (measurement_split.hpp says
// which may be).
#pragma once

#include "model/cost/collectives.hpp"

#include <string>
#include <vector>

namespace sextant {

struct LibraryCall {
    CommunicationLibrary library;
    Collective what = Collective::all_reduce;
    Bytes size;
    Group group;
    Seconds at_least;  // launching it on all devices of a process
    Seconds measured;
    std::string curve;  // calls of one group of ranks, of all sizes: together they count as a few
};

struct LibraryParameter {
    std::string of, pointer;  // library, place in its profile: "/messages/combine"
    double before = 0, value = 0, spread = 0;
    std::string text;  // the value with its unit
    bool at_bound = false;
    int calls = 0;
};

struct LibraryFit {
    std::vector<LibraryParameter> parameters;  // those that the calls decide
    double mean_error = 0;                     // |predicted / measured - 1|
};

LibraryFit fit_to_calls(const std::vector<LibraryCall>&);

// A call, and the launches before it.
Seconds time_of(const LibraryCall&);

}  // namespace sextant
