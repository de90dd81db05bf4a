#include "model/predict/pipeline.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// The slowest stage is busy from its first pass to its last; every other one is passed once. What a stage does before its
// input arrives is done while it waits for the first.
Seconds passed_through_time(const Pipeline& p, std::span<const StageTimes> stages) {
    // All forwards and then all backwards are two such runs, which different stages may hold up.
    const bool two_runs = p.schedule == Schedule::gpipe;
    Seconds once, early, ahead, back, both;
    for (const StageTimes& s : stages) {
        once += s.device();
        early += s.early + s.early_back;
        ahead = max(ahead, s.ahead);
        back = max(back, s.back);
        both = max(both, s.device());
    }
    early -= stages.front().early + stages.back().early_back;
    const Seconds slowest = two_runs ? ahead + back : both;
    return p.micro_batches * slowest + once - slowest - early;
}

// 1F1B lets a stage have as many micro-batches under way as stages follow, itself included: k stages pass k micro-batches on and get them
// back in k t + 2 (k - 1) x, so that transfers beside compute hold up whatever is in between, unless a slower stage waits anyway.
Seconds round_trips(const Pipeline& p, std::size_t stages, Seconds slowest, Seconds mean) {
    if (p.schedule != Schedule::one_f_one_b || p.forward_only || !(p.hidden_send > Seconds{})) return {};
    const auto held_up = [&](double k) { return k < 2 ? Seconds{} : max(Seconds{}, 2.0 * (k - 1) * p.hidden_send - k * (slowest - mean)); };
    const double n = static_cast<double>(stages), further = p.micro_batches - 1, whole = std::floor(further / n);
    return whole * held_up(n) + held_up(further - whole * n);
}

}  // namespace

std::vector<Seconds> pipeline_ends(const Pipeline& p, std::span<const StageTimes> stages) {
    Seconds slowest, sum, passing;
    for (const StageTimes& s : stages) {
        slowest = max(slowest, s.device());
        sum += s.device();
        passing += s.passing;
    }
    const double n = static_cast<double>(stages.size());
    const Seconds transfers = (p.forward_only ? 1 : 2) * (n - 1) * p.hidden_send;
    const Seconds device = passed_through_time(p, stages) + transfers + passing + round_trips(p, stages.size(), slowest, sum / n);
    Seconds end = held_up_by_hosts(p, stages, device);
    std::vector<Seconds> ends;
    for (const StageTimes& s : stages) {
        ends.push_back(end);
        end -= s.back + p.hidden_send;  // a stage ends earlier than the one in front of it
    }
    return ends;
}

// Every stage's host issues its own work from the start on and waits for nobody. What the last of it makes still goes to the end of the
// pipeline; what the first of it makes goes all the way.
Seconds held_up_by_hosts(const Pipeline& p, std::span<const StageTimes> stages, Seconds device) {
    Seconds host, before, after;
    for (const StageTimes& s : stages) after += s.ahead / p.chunks;
    Seconds arrival;
    for (const StageTimes& s : stages) {
        arrival += s.ahead / p.chunks;
        after -= s.ahead / p.chunks;
        host = max(host, p.micro_batches * s.host() + (p.forward_only ? after : before));
        host = max(host, device + s.host_ahead / p.chunks - arrival);
        before += s.back / p.chunks;
    }
    return max(device, host);
}

}  // namespace sextant
