#include "model/calibrate/library_fit.hpp"

#include "model/calibrate/fit.hpp"
#include "model/calibrate/profile_parameters.hpp"

#include <algorithm>
#include <map>

namespace sextant {
namespace {

constexpr double formula_error = 0.1;   // what the formulas miss, however good their parameters
constexpr double calls_of_a_curve = 8;  // as how many independent calls those of one curve count at most
constexpr double no_say = 1e3;          // spread of what was thought before. A profile has what the last fit found: the same calls twice

Seconds time_with(const CommunicationLibrary& library, const LibraryCall& c) {
    return max(collective_time(c.what, c.size, c.group, library), c.at_least);
}

// Calls of one library.
LibraryFit fit_one(const std::vector<LibraryCall>& calls) {
    Scenario machine;
    machine.library = calls.front().library;
    std::vector<ProfileParameter> parameters = library_parameters(machine.library);
    // The protocols of a library of messages serve collectives that no published curve shows.
    if (machine.library.messages) std::erase_if(parameters, [](const ProfileParameter& p) { return p.name.starts_with("/protocols/"); });
    std::map<std::string, double> sizes;
    for (const LibraryCall& c : calls) sizes[c.curve] += 1;
    std::vector<FitPoint> points;
    points.reserve(calls.size());
    for (const LibraryCall& c : calls) points.push_back({c.measured.si(), noise_among(formula_error, sizes[c.curve], calls_of_a_curve)});
    std::vector<FitParameter> starts;
    starts.reserve(parameters.size());
    for (const ProfileParameter& p : parameters) starts.push_back({p.name, p.get(machine), no_say, p.least, p.most});
    const Fit found = fit(starts, points, [&](const std::vector<double>& values) {
        for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].set(machine, values[i]);
        std::vector<double> predicted;
        predicted.reserve(calls.size());
        for (const LibraryCall& c : calls) predicted.push_back(time_with(machine.library, c).si());
        return predicted;
    });
    LibraryFit of_library;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const FittedParameter& p = found.parameters[i];
        if (p.spread > parameters[i].spread) continue;  // the calls do not decide it
        of_library.parameters.push_back({machine.library.name, parameters[i].name, starts[i].value, p.value, p.spread,
                                         parameters[i].text(p.value), p.at_bound, static_cast<int>(calls.size())});
    }
    of_library.mean_error = mean_error(found, points);
    return of_library;
}

}  // namespace

Seconds time_of(const LibraryCall& c) { return time_with(c.library, c); }

LibraryFit fit_to_calls(const std::vector<LibraryCall>& calls) {
    std::map<std::string, std::vector<LibraryCall>> by_library;
    for (const LibraryCall& c : calls) by_library[c.library.name].push_back(c);
    LibraryFit all;
    for (auto& [name, own] : by_library) {
        const double share = static_cast<double>(own.size()) / static_cast<double>(calls.size());
        LibraryFit one = fit_one(own);
        std::ranges::move(one.parameters, std::back_inserter(all.parameters));
        all.mean_error += share * one.mean_error;
    }
    return all;
}

}  // namespace sextant
