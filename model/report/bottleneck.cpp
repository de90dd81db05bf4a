#include "model/report/bottleneck.hpp"

#include "model/base/quantity_text.hpp"
#include "model/predict/state.hpp"
#include "model/report/better_settings.hpp"
#include "model/report/levers.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

constexpr double smallest_gain = 1e-3;  // below: not worth a line

std::vector<Mover> movers_at(const Prepared& job, const Resources& at) {
    const Seconds now = estimate(job, at).step;
    std::vector<Mover> movers;
    for (const Lever& lever : all_levers()) {
        if (lever.kind == BottleneckKind::io && !job.state().input) continue;  // nothing to wait for
        Resources doubled = at;
        doubled.*lever.field *= 2;
        const Seconds then = estimate(job, doubled).step;
        movers.push_back({.resource = std::string(lever.resource),
                          .change = (lever.less ? "half the " : "twice the ") + std::string(lever.resource),
                          .kind = lever.kind,
                          .step_at_double = then,
                          .gain = 1 - then / now});
    }
    std::stable_sort(movers.begin(), movers.end(), [](const Mover& a, const Mover& b) { return a.gain > b.gain; });
    return movers;
}

const Lever& lever_of(std::string_view resource) { return *std::ranges::find(all_levers(), resource, &Lever::resource); }

// The smallest multiple of a resource at which another would gain more, and which.
struct Change {
    double factor;
    std::string next;
};
// None up to some tens of times.
std::optional<Change> change_of(const Prepared& job, const Lever& lever) {
    const auto leader = [&](double factor) {
        Resources r;
        r.*lever.field = factor;
        return movers_at(job, r).front().resource;
    };
    double low = 1, high = 2;
    std::string next;
    while ((next = leader(high)) == lever.resource) {
        if (high > 64) return std::nullopt;
        low = high;
        high *= 4;
    }
    for (int i = 0; i < 5; ++i) {
        const double middle = std::sqrt(low * high);
        std::string at_middle = leader(middle);
        if (at_middle == lever.resource)
            low = middle;
        else
            high = middle, next = std::move(at_middle);
    }
    return Change{high, std::move(next)};
}

// "plan.shard_group=8 (-26 %), ": the first few.
std::string listed(const std::vector<PricedSetting>& settings, bool fits) {
    constexpr std::size_t most = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, settings.size()); ++i) {
        const PricedSetting& s = settings[i];
        for (const std::string& set : s.set) text += (set.find(' ') == std::string::npos ? set : "'" + set + "'") + " ";
        text += fits ? "(-" + percent_text(s.gain, 2) + (s.per_sample ? " a sample), " : "), ") : "(fits in " + to_text(s.memory) + "), ";
    }
    return text;
}

// A pipeline's stages wait for each other longer than they do anything.
void say_that_stages_wait(Bottleneck& b, const Estimate& e) {
    constexpr double most = 0.5;
    const double bubble = e.terms[Term::bubble] / e.step;
    if (bubble < most) return;
    b.why += "; " + percent_text(bubble, 2) + " of the step a stage waits for the others (bubble): more micro-batches keep them busy";
}

void say_that_it_does_not_fit(Bottleneck& b, const Estimate& e) {
    b.kind = BottleneckKind::memory_size;
    std::string more;
    if (!e.fits_device()) {
        b.why = "the fullest rank needs " + to_text(e.peak_memory) + " and the device has " + to_text(e.device_memory);
        more = "more devices, or " + to_text(e.peak_memory) + " of memory in each";
    } else {
        b.why = "what is offloaded takes " + to_text(e.host.total()) + " of host memory on a node that has " + to_text(e.host.there);
        more = "more nodes to share it, or " + to_text(e.host.total()) + " of memory in each host";
    }
    b.what_would_move_it = listed(b.settings, false) + "what `sextant plan` finds, " + more;
}

}  // namespace

Bottleneck find_bottleneck(const Prepared& job, const Estimate& e) {
    Bottleneck b;
    b.movers = movers_at(job, {});
    b.settings = better_settings(job, e.fits());
    const Lever& lever = lever_of(b.movers.front().resource);
    b.kind = lever.kind;
    b.why = lever.why(job, e);
    say_that_stages_wait(b, e);
    b.what_would_move_it = listed(b.settings, true) + std::string(lever.advice);
    if (const std::optional<Change> change = change_of(job, lever)) {
        b.changes_at = change->factor;
        b.changes_at_text = "at " + lever.value(job.scenario(), lever, change->factor) + " the limit becomes " + change->next;
    }
    if (!e.fits()) say_that_it_does_not_fit(b, e);
    std::erase_if(b.movers, [](const Mover& m) { return m.gain < smallest_gain; });
    return b;
}

}  // namespace sextant
