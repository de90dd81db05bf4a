#include "model/predict/pipeline.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// Stage s of a zero-bubble schedule starts when the first micro-batch has come through the stages before it. While that
// micro-batch goes to the end and back, the stage does p - s - 1 more forwards, or as many as there are; after that it never
// waits. When its last gradient of an input is on the way to the first stage, s + 1 gradients of weights are left, or as many as
// there are. Any stage may be the one that ends last.
Seconds zero_bubble_time(const Pipeline& p, const TimesOfStages& stages) {
    Seconds before, back_before, round_trip, end;
    const auto there_and_back = [](const StageTimes& s) { return s.forward - s.early + s.backward_alone(); };
    for (std::size_t i = 0; i < stages.size(); ++i) round_trip += there_and_back(stages[i]);
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const StageTimes& s = stages[i];
        round_trip -= there_and_back(s);
        const double more = std::min(static_cast<double>(stages.size() - i), p.micro_batches) - 1;
        const double late = std::min(static_cast<double>(i) + 1, p.micro_batches);
        const Seconds wait = max(Seconds{}, round_trip - more * s.forward);
        const Seconds behind = max(Seconds{}, back_before + stages[0].weights - late * s.weights);
        end = max(end, before + wait + p.micro_batches * s.device() - (i > 0 ? s.early : Seconds{}) + behind);
        before += s.forward - (i > 0 ? s.early : Seconds{});
        back_before += s.backward_alone();
    }
    return end;
}

// Stage s of 1F1B starts when the first micro-batch has come through the stages before it, and ends before the last one goes back through
// these. While the first micro-batch goes to the end and back, the stage does p - s - 1 more forwards, or as many as there are; while the
// last one does, as many backwards. The slowest stage waits for nothing else, and any stage may be the one that ends last. With fewer
// micro-batches than stages, the last one turns back first, at stage p - m. What a stage does before its input arrives is done while it
// waits for the first, and nobody waits for what it does after sending its result.
Seconds one_f_one_b_time(const Pipeline& p, const TimesOfStages& stages) {
    const std::size_t last = stages.size() - 1;
    const auto passes = [&](std::size_t i) {
        const StageTimes& s = stages[i];
        return s.device() - s.met - (i > 0 ? s.early + s.late : Seconds{}) - (i < last ? s.early_backward : Seconds{});
    };
    const std::size_t turn = stages.size() - static_cast<std::size_t>(std::min(static_cast<double>(stages.size()), p.micro_batches));
    Seconds before, to_turn, round_trip, end;
    for (std::size_t i = 0; i <= last; ++i) {
        round_trip += passes(i);
        if (i <= turn) to_turn += passes(i);
    }
    for (std::size_t i = 0; i <= last; ++i) {
        const StageTimes& s = stages[i];
        round_trip -= passes(i);
        if (i <= turn) to_turn -= passes(i);
        const double behind = static_cast<double>(last - i), more = std::min(behind, p.micro_batches - 1);
        const Seconds first = max(Seconds{}, round_trip - more * s.forward), backward = max(Seconds{}, round_trip - more * s.backward);
        const Seconds waits = p.micro_batches > behind + 1 ? first + backward : max(max(first, backward), to_turn);
        end = max(end, before + (p.micro_batches - 1) * s.device() + passes(i) + s.met + waits);
        before += passes(i);
    }
    return end;
}

// The slowest stage is busy from its first pass to its last; a micro-batch passes every other stage once, chunk by chunk. What a stage does
// before its input arrives is done while it waits for the first micro-batch.
Seconds passed_through_time(const Pipeline& p, const TimesOfStages& stages) {
    // All forwards, then all backwards: two such runs, whose slowest stages may differ.
    const bool two_runs = p.schedule == Schedule::gpipe && !p.forward_only;
    Seconds once, early, forward, backward, both, met;  // the latter by the slowest stage
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const StageTimes& s = stages[i];
        once += s.device() - s.met;
        early += s.early + s.early_backward + s.late;
        if (two_runs ? s.backward > backward : s.device() > both) met = s.met;
        forward = max(forward, s.forward);
        backward = max(backward, s.backward);
        both = max(both, s.device());
    }
    early -= stages[0].early + stages[stages.size() - 1].early_backward + stages[0].late;
    const Seconds slowest = two_runs ? forward + backward : both;
    // Transfers that are hidden behind compute may still set the pace.
    const auto further = [&](Seconds pass, Seconds sends) { return (p.micro_batches - 1) * max(pass, sends); };
    const Seconds others =
        two_runs ? further(forward, p.busiest_boundary) + further(backward, p.busiest_boundary) : further(both, p.busiest_stage);
    return slowest + others + (once - (slowest - met) - early) / p.chunks;
}

// In 1F1B a stage has as many micro-batches under way as there are stages from it on. k stages pass k micro-batches on and get them back in
// k t + 2 (k - 1) x, so transfers beside compute delay what is in between, unless it waits for a slower stage anyway. `mean`: t without
// what stages do while a micro-batch is elsewhere.
Seconds round_trips(const Pipeline& p, std::size_t stages, Seconds slowest, Seconds mean) {
    if (p.schedule != Schedule::one_f_one_b || p.forward_only || !(p.hidden_send > Seconds{})) return {};
    const auto held_up = [&](double k) { return k < 2 ? Seconds{} : max(Seconds{}, 2.0 * (k - 1) * p.hidden_send - k * (slowest - mean)); };
    const double n = static_cast<double>(stages), further = p.micro_batches - 1, whole = std::floor(further / n);
    return whole * held_up(n) + held_up(further - whole * n);
}

// However fast the stages are, the link of the busiest one carries what it sends for all micro-batches one after another, after the first
// has arrived there and before the last goes on.
Seconds carried_time(const Pipeline& p, const TimesOfStages& stages) {
    Seconds once;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const StageTimes& s = stages[i];
        once += s.forward - s.early + s.backward_alone() - s.late;
    }
    return once / p.chunks + (p.micro_batches - 1) * p.busiest_stage;
}

// How much earlier the next stage ends its own last work; without backward, the one before.
Seconds drain(const Pipeline& p, const StageTimes& s) {
    if (p.forward_only) return (s.forward - s.early) / p.chunks;
    if (p.schedule == Schedule::zero_bubble) return s.backward_alone() - s.weights;
    return (s.backward_alone() - s.late) / p.chunks;
}

}  // namespace

// Stage s of a schedule that turns back starts when the first micro-batch has come through the first chunks of the stages before it. It
// does 2 (p - s - 1) more forwards while that one goes to the last stage and comes back, and two forwards of each chunk for each stage
// before it while it goes to the end and its first gradient comes back; and p - s - 1 gradients, of inputs and of weights, while the last
// one goes to the last stage and comes back. Otherwise it waits for nothing.
Seconds turning_time(const Pipeline& p, const TimesOfStages& stages) {
    const auto forward = [&](const StageTimes& s) { return 0.5 * (s.forward - s.early) + p.hidden_send; };
    const auto backward = [&](const StageTimes& s) { return 0.5 * s.backward_alone() + p.hidden_send; };
    Seconds forwards, backwards, forwards_before, backwards_before, end;  // of chunks: of the stages behind one, and before it
    for (std::size_t i = 0; i < stages.size(); ++i) {
        forwards += forward(stages[i]);
        backwards += backward(stages[i]);
    }
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const StageTimes& s = stages[i];
        forwards -= forward(s);
        backwards -= backward(s);
        const double n = p.micro_batches, behind = static_cast<double>(stages.size() - i) - 1, before = static_cast<double>(i);
        const Seconds until_it_is_back = max(Seconds{}, 2.0 * forwards - std::min(2 * behind, n - 1) * 0.5 * s.forward);
        const Seconds until_first = max(Seconds{}, forwards_before + backwards_before - std::min(before, n - 1) * s.forward);
        const Seconds until_last = max(Seconds{}, 2.0 * backwards - std::min(behind, n - 1) * 0.5 * (s.backward + s.weights));
        end = max(end, forwards_before + until_it_is_back + until_first + n * s.device() + until_last - (i > 0 ? s.early : Seconds{}));
        forwards_before += forward(s);
        backwards_before += backward(s);
    }
    return end;
}

void pipeline_ends(const Pipeline& p, const TimesOfStages& stages, std::span<Seconds> ends) {
    Seconds slowest, on_the_way, passing;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const StageTimes& s = stages[i];
        slowest = max(slowest, s.device());
        on_the_way += s.alone() + s.met;
        passing += s.passing;
    }
    if (turns_back(p.schedule)) {
        std::ranges::fill(ends, held_up_by_hosts(p, stages, turning_time(p, stages) + passing));
        return;
    }
    const double n = static_cast<double>(stages.size());
    const Seconds transfers = (p.forward_only ? 1 : 2) * (n - 1) * p.hidden_send;
    const Seconds busy = p.schedule == Schedule::zero_bubble                      ? zero_bubble_time(p, stages)
                         : p.schedule == Schedule::one_f_one_b && !p.forward_only ? one_f_one_b_time(p, stages)
                                                                                  : passed_through_time(p, stages);
    const Seconds carried = max(carried_time(p, stages), p.shared_links);
    const Seconds played = max(busy + round_trips(p, stages.size(), slowest, on_the_way / n), carried);
    const Seconds device = played + transfers + passing;
    Seconds end = held_up_by_hosts(p, stages, device);
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const std::size_t stage = p.forward_only ? stages.size() - 1 - i : i;
        ends[stage] = end;
        end -= drain(p, stages[stage]) + p.hidden_send;
    }
}

// When the first micro-batch has gone through all stages (in GPipe after the others), and has come back through those after this stage.
Seconds first_backward(const Pipeline& p, const TimesOfStages& stages, std::size_t stage) {
    Seconds there, back, slowest;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const StageTimes& s = stages[i];
        there += s.forward - (i > 0 ? s.early : Seconds{});
        if (i > stage) back += s.backward_alone() - s.late + p.hidden_send;
        slowest = max(slowest, s.forward);
    }
    const Seconds others = p.schedule == Schedule::gpipe ? (p.micro_batches - 1) * slowest : Seconds{};
    return others + there + static_cast<double>(stages.size() - 1) * p.hidden_send + back;
}

std::string_view pipeline_formula(Schedule schedule, bool forward_only, bool played) {
    if (played)
        return "played pass by pass: each starts when its stage is free and its input has come; further micro-batches at the last pace";
    if (turns_back(schedule)) return "T = max over stages s of first forward to s + m t_s + what s waits";
    if (schedule == Schedule::zero_bubble)
        return "T = max over stages s of first forward to s + what s waits + m t_s + weights' gradients behind";
    if (forward_only || schedule == Schedule::sequential || schedule == Schedule::interleaved)
        return "T = m t_max + (sum of the other stages' t) / v";
    if (schedule == Schedule::gpipe) return "T = m f_max + m b_max + what is left of the sum of all stages' f + b";
    return "T = max over stages s of (sum of t before s) + m t_s + what s waits";
}

// Every stage's host issues its own work from the start and waits for nobody. What the last of that work makes still has to go to the end
// of the pipeline; what the first of it makes goes all the way.
Seconds held_up_by_hosts(const Pipeline& p, const TimesOfStages& stages, Seconds device) {
    const auto pass_on = [&](const StageTimes& s) { return (s.forward - s.early) / p.chunks; };
    Seconds host, before, after;
    for (std::size_t i = 0; i < stages.size(); ++i) after += pass_on(stages[i]);
    Seconds arrival;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const StageTimes& s = stages[i];
        arrival += pass_on(s);
        after -= pass_on(s);
        host = max(host, p.micro_batches * s.host() + (p.forward_only ? after : before));
        host = max(host, device + s.host_forward / p.chunks - arrival);
        before += (s.backward - s.late - s.met) / p.chunks;
    }
    return max(device, host);
}

}  // namespace sextant
