#include "model/report/bottleneck.hpp"

#include "model/base/quantity_text.hpp"
#include "model/predict/stage_memory.hpp"
#include "model/predict/state.hpp"
#include "model/report/better_settings.hpp"
#include "model/report/levers.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

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
struct NextBottleneck {
    double factor;
    std::string resource;
};
constexpr double largest_multiple = 64;  // beyond this nobody buys more of a resource, so nothing is said
constexpr int bisections = 5;            // each takes the square root of high / low, which is 4 at most: less than 5 % is left
std::optional<NextBottleneck> next_bottleneck(const Prepared& job, const Lever& lever) {
    const auto leader = [&](double factor) {
        Resources r;
        r.*lever.field = factor;
        return movers_at(job, r).front().resource;
    };
    double low = 1, high = 2;
    std::string next;
    while ((next = leader(high)) == lever.resource) {
        if (high > largest_multiple) return std::nullopt;
        low = high;
        high *= 4;
    }
    for (int i = 0; i < bisections; ++i) {
        const double middle = std::sqrt(low * high);
        std::string at_middle = leader(middle);
        if (at_middle == lever.resource) {
            low = middle;
        } else {
            high = middle;
            next = std::move(at_middle);
        }
    }
    return NextBottleneck{high, std::move(next)};
}

// Ranks of a stage that all take as long as one that is neither slow nor late.
std::optional<Mover> equally_fast(const Prepared& job, Seconds now) {
    Scenario even = job.scenario();
    if (!even.has_slow_devices() && even.step_noise == 0) return std::nullopt;
    even.straggler.reset();
    even.step_noise = 0;
    const Seconds then = estimate(prepare(even, &job)).step;
    return Mover{std::string(evenness_of_workers), "workers equally fast", BottleneckKind::compute, then, 1 - then / now};
}

// Where ranks wait for slow or late ones: what would be left without those.
void add_equally_fast(Bottleneck& b, const Prepared& job, const Estimate& e) {
    std::optional<Mover> even = equally_fast(job, estimate(job).step);
    constexpr double much = 0.1;
    if (!even) return;
    if (const double waiting = e.terms[Term::straggler] / e.step; waiting >= much) {
        b.why += "; " + percent_text(waiting, 2) + " of the step ranks wait for slower ones (straggler)";
        b.what_else_helps = "workers that are equally fast (-" + percent_text(even->gain, 2) + "), " + b.what_else_helps;
    }
    b.movers.push_back(std::move(*even));
    std::ranges::stable_sort(b.movers, std::greater{}, &Mover::gain);
}

// A pipeline's stages wait for each other longer than they do anything.
void say_that_stages_wait(Bottleneck& b, const Estimate& e) {
    constexpr double most = 0.5;
    const double bubble = e.terms[Term::bubble] / e.step;
    if (bubble < most) return;
    b.why += "; " + percent_text(bubble, 2) + " of the step a stage waits for the others (bubble): more micro-batches keep them busy";
}

// Whether more devices help one that is too full. If not, each holds as much as it would alone.
bool devices_share_weights(const Scenario& s) {
    const Framework& f = s.framework;
    return (f.can(PlanFeature::tensor) && s.workload.is_transformer()) || f.can(PlanFeature::pipeline) || f.can(PlanFeature::zero3);
}

void say_that_it_does_not_fit(Bottleneck& b, const Scenario& s, const Estimate& e) {
    b.kind = BottleneckKind::memory_size;
    if (!e.fits_device()) {
        b.why = "the fullest rank needs " + to_text(e.peak_memory) + " and the device has " + to_text(e.device_memory);
        b.what_else_helps = (devices_share_weights(s) ? "more devices, or " : "") + to_text(e.peak_memory) + " of memory in each device";
    } else {
        b.why = "what is offloaded takes " + to_text(e.host.total()) + " of host memory on a node that has " + to_text(e.host.there);
        b.what_else_helps = "more nodes to share it, or " + to_text(e.host.total()) + " of memory in each host";
    }
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
    b.what_else_helps = lever.advice;
    if (const std::optional<NextBottleneck> next = next_bottleneck(job, lever)) {
        b.changes_at = next->factor;
        b.changes_at_text = "at " + lever.value(job.scenario(), lever, next->factor) + " the limit becomes " + next->resource;
    }
    add_equally_fast(b, job, e);
    if (!e.fits()) say_that_it_does_not_fit(b, job.scenario(), e);
    std::erase_if(b.movers, [](const Mover& m) { return m.gain < smallest_gain; });
    return b;
}

}  // namespace sextant
