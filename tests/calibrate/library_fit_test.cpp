// Parameters of libraries from calls that are made up: predicted with known values, which must come out again.
#include "model/calibrate/library_fit.hpp"
#include "model/io/measurement/measurement_split.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/sextant.hpp"

#include "tests/cost/round_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sextant {
namespace {

using namespace units;

std::vector<LibraryCall> calls_of(const CommunicationLibrary& truth, const CommunicationLibrary& guess, bool host_buffers) {
    std::vector<LibraryCall> calls;
    for (const int nodes : {1, 4})
        for (const Collective what : {Collective::all_reduce, Collective::broadcast})
            for (double size = 1024; size < 1e8; size *= 4) {
                LibraryCall c;
                c.library = truth;
                c.what = what;
                c.size = size * B;
                c.group.ranks = 8 * nodes;
                c.group.nodes = nodes;
                c.group.ring = c.group.inside = c.group.all_to_all = 50 * GB / s;
                c.group.crosses_network = nodes > 1;
                c.group.host_buffers = host_buffers;
                c.curve = std::to_string(nodes) + std::string(to_text(what));
                c.measured = time_of(c);
                c.library = guess;
                calls.push_back(std::move(c));
            }
    return calls;
}

TEST(LibraryFit, FindsWhatAProcessOfAnMpiMoves) {
    Library library = open_library();
    Diagnostics diagnostics;
    const CommunicationLibrary truth = *find_library(library.catalog, "openmpi-4.0", diagnostics);
    CommunicationLibrary guess = truth;
    guess.messages->combine.value = guess.messages->combine.value * 0.5;
    guess.messages->post.value = guess.messages->post.value * 2;
    guess.messages->inside.value = guess.messages->inside.value * 1.5;
    const LibraryFit found = fit_to_calls(calls_of(truth, guess, true));
    EXPECT_LT(found.mean_error, 0.01);
    const auto value = [&](std::string_view pointer) {
        const auto p = std::ranges::find(found.parameters, pointer, &LibraryParameter::pointer);
        return p == found.parameters.end() ? 0 : p->value;
    };
    EXPECT_NEAR(value("/messages/combine") / truth.messages->combine.value.si(), 1, 0.02);
    EXPECT_NEAR(value("/messages/post") / truth.messages->post.value.si(), 1, 0.05);
    EXPECT_NEAR(value("/messages/inside") / truth.messages->inside.value.si(), 1, 0.05);
    EXPECT_EQ(value("/messages/device_reads"), 0);  // host buffers do not show it: it is left alone
}

TEST(LibraryFit, FindsWhatACallOfAProtocolCosts) {
    const CommunicationLibrary truth = round_machine::library();
    CommunicationLibrary guess = truth;
    guess.protocols.front().base.value = 25 * us;
    const LibraryFit found = fit_to_calls(calls_of(truth, guess, false));
    ASSERT_EQ(found.parameters.size(), 1u);
    EXPECT_EQ(found.parameters[0].pointer, "/protocols/0/base");
    EXPECT_NEAR(found.parameters[0].value, 10e-6, 0.3e-6);
}

TEST(LibraryFit, FindsTheSameFromWhatItFound) {
    const CommunicationLibrary truth = round_machine::library();
    CommunicationLibrary guess = truth;
    guess.protocols.front().base.value = 25 * us;
    std::vector<LibraryCall> calls = calls_of(truth, guess, false);
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i].measured *= i % 2 == 0 ? 1.1 : 0.95;  // as nothing predicts it
    const double once = fit_to_calls(calls).parameters.at(0).value;
    for (LibraryCall& c : calls) c.library.protocols.front().base.value = Seconds::from_si(once);
    EXPECT_NEAR(fit_to_calls(calls).parameters.at(0).value / once, 1, 1e-3);
}

TEST(LibraryFit, CallsAreSplitByMachine) {
    MeasurementFile file;
    for (const char* system : {"a", "b", "c", "a", "b"}) {
        CollectiveRow row;
        row.hardware.system = system;
        file.rows.emplace_back(row);
    }
    const std::vector<bool> half = fitting_half(file);
    EXPECT_EQ(half[0], half[3]);
    EXPECT_EQ(half[1], half[4]);
    EXPECT_EQ(half[0] + half[1] + half[2], 2);
    std::get<CollectiveRow>(file.rows[0]).header.complete = false;
    EXPECT_FALSE(fitting_half(file)[0]);
}

}  // namespace
}  // namespace sextant
