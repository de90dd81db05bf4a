#include "model/calibrate/library_fit.hpp"

#include "model/calibrate/fit.hpp"
#include "model/calibrate/sourced_field.hpp"

#include <algorithm>
#include <map>

namespace sextant {
namespace {

constexpr double form_error = 0.1;      // what the formulas miss, however good their parameters
constexpr double calls_of_a_curve = 8;  // as how many independent calls those of one curve count at most
constexpr double factor = 8;            // a parameter is looked for within this of where it was
constexpr double unsure = 0.7;          // relative spread of what the profile says

struct Knob : SourcedField<CommunicationLibrary> {
    std::string pointer;
    double most = 0;  // 0: none
};

// A number without a unit is a share of a whole.
template <class Place>
Knob knob(std::string pointer, Place place) {
    using Value = std::remove_cvref_t<decltype(place(std::declval<CommunicationLibrary&>()).value)>;
    return {sourced_field<CommunicationLibrary>(place), std::move(pointer), std::is_same_v<Value, double> ? 1.0 : 0.0};
}

std::vector<Knob> knobs_of(const CommunicationLibrary& library) {
    std::vector<Knob> knobs;
    if (library.messages) {
        const auto add = [&](std::string name, auto member) {
            knobs.push_back(knob(
                "/messages/" + name, [member](CommunicationLibrary & l) -> auto& { return (*l.messages).*member; }));
        };
        add("inside", &MessagePassing::inside);
        add("across", &MessagePassing::across);
        add("combine", &MessagePassing::combine);
        add("post", &MessagePassing::post);
        add("copy", &MessagePassing::copy);
        add("staging_call", &MessagePassing::staging_call);
        add("staging", &MessagePassing::staging);
        add("device_eager", &MessagePassing::device_eager);
        add("device_reads", &MessagePassing::device_reads);
        add("device_rendezvous", &MessagePassing::device_rendezvous);
        return knobs;  // its protocols serve collectives that no curve shows
    }
    for (std::size_t i = 0; i < library.protocols.size(); ++i) {
        const std::string at = "/protocols/" + std::to_string(i);
        knobs.push_back(knob(
            at + "/base", [i](CommunicationLibrary & l) -> auto& { return l.protocols[i].base; }));
        if (library.protocols[i].inside_fraction)
            knobs.push_back(knob(
                at + "/inside_fraction", [i](CommunicationLibrary & l) -> auto& { return *l.protocols[i].inside_fraction; }));
        if (library.protocols[i].channel_start)
            knobs.push_back(knob(
                at + "/channel_start", [i](CommunicationLibrary & l) -> auto& { return *l.protocols[i].channel_start; }));
        if (library.protocols[i].channel_bandwidth.value > Bandwidth{})
            knobs.push_back(knob(
                at + "/channel_bandwidth", [i](CommunicationLibrary & l) -> auto& { return l.protocols[i].channel_bandwidth; }));
    }
    return knobs;
}

LibraryFit fit_one(std::vector<LibraryCall> calls) {
    const std::vector<Knob> knobs = knobs_of(calls.front().library);
    std::map<std::string, double> sizes;
    for (const LibraryCall& c : calls) sizes[c.curve] += 1;
    std::vector<FitPoint> points;
    for (const LibraryCall& c : calls) points.push_back({c.measured.si(), noise_among(form_error, sizes[c.curve], calls_of_a_curve)});
    std::vector<FitParameter> starts;
    for (const Knob& k : knobs) {
        const double v = k.get(calls.front().library);
        starts.push_back({k.pointer, v, unsure, v / factor, k.most > 0 ? std::min(k.most, v * factor) : v * factor});
    }
    const Fit found = fit(starts, points, [&](const std::vector<double>& values) {
        std::vector<double> predicted;
        for (LibraryCall& c : calls) {
            for (std::size_t i = 0; i < knobs.size(); ++i) knobs[i].set(c.library, values[i]);
            predicted.push_back(time_of(c).si());
        }
        return predicted;
    });
    LibraryFit of_library;
    for (std::size_t i = 0; i < knobs.size(); ++i) {
        const FittedParameter& p = found.parameters[i];
        if (!is_decided(p, starts[i])) continue;
        of_library.parameters.push_back({calls.front().library.name, knobs[i].pointer, starts[i].value, p.value, p.spread,
                                         knobs[i].text(p.value), p.at_bound, static_cast<int>(calls.size())});
    }
    of_library.mean_error = mean_error(found, points);
    return of_library;
}

}  // namespace

Seconds time_of(const LibraryCall& c) { return max(collective_time(c.what, c.size, c.group, c.library), c.at_least); }

LibraryFit fit_to_calls(const std::vector<LibraryCall>& calls) {
    std::map<std::string, std::vector<LibraryCall>> by_library;
    for (const LibraryCall& c : calls) by_library[c.library.name].push_back(c);
    LibraryFit all;
    for (auto& [name, own] : by_library) {
        const double share = static_cast<double>(own.size()) / static_cast<double>(calls.size());
        LibraryFit one = fit_one(std::move(own));
        std::ranges::move(one.parameters, std::back_inserter(all.parameters));
        all.mean_error += share * one.mean_error;
    }
    return all;
}

}  // namespace sextant
