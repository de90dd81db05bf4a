// Which experts tokens go to: the decision of choose_experts() in backend/exec/routing.hpp, made on the device. Only counts come back to
// the host. No atomics: tokens are counted by chunks of them, and a chunk's rows begin behind those of the chunks before.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/lanes.hpp"

#include <bit>
#include <cmath>
#include <vector>

namespace sextant::kernels {

// A key for each score, so that keys are in the order of scores; of two equal scores the one with the lower number (of its expert or group)
// has the larger key. So no two keys are the same.
constexpr std::int64_t no_key = INT64_MIN, above_all_keys = INT64_MAX;
SEXTANT_KERNEL inline std::int64_t key_of(float score, std::int64_t number) {
    const auto bits = std::bit_cast<std::int32_t>(score == 0 ? 0.0F : score);  // zeros of both signs are alike
    const std::int32_t ordered = bits < 0 ? bits ^ 0x7fffffff : bits;
    return (static_cast<std::int64_t>(ordered) << 32) + (0xffffffff - number);
}
SEXTANT_KERNEL inline std::int64_t number_of(std::int64_t key) { return 0xffffffff - (key & 0xffffffff); }

// The largest of keys(i), i < count, below `limit`.
template <class Lanes, class Keys>
SEXTANT_KERNEL std::int64_t largest_below(const Lanes& lanes, std::int64_t limit, std::int64_t count, const Keys& keys) {
    std::int64_t largest = no_key;
    for (std::int64_t i = lanes.first(); i < count; i += lanes.step()) {
        const std::int64_t key = keys(i);
        if (key < limit && key > largest) largest = key;
    }
    return lanes.max(largest);
}

// A score as it is compared: NaN counts as the least.
SEXTANT_KERNEL inline float comparable(float score) { return score == score ? score : -INFINITY; }

template <class T>
struct BiasedScores {
    const T* scores;      // [tokens, experts]
    const float* biases;  // null: there are none
    std::int64_t experts;
    SEXTANT_KERNEL float operator()(std::int64_t token, std::int64_t expert) const {
        return comparable(static_cast<float>(scores[token * experts + expert]) + (biases == nullptr ? 0 : biases[expert]));
    }
};

template <class T>
struct GroupKeys {
    BiasedScores<T> scores;
    std::int64_t groups, size;
    std::int64_t* keys;  // [tokens, groups]
    SEXTANT_KERNEL void operator()(std::int64_t token, std::int64_t group) const {
        float best = -INFINITY, second = -INFINITY;
        for (std::int64_t e = group * size; e < (group + 1) * size; ++e) {
            const float score = scores(token, e);
            second = score > best ? best : score > second ? score : second;
            best = score > best ? score : best;
        }
        const bool of_two = scores.biases != nullptr && size > 1;
        keys[token * groups + group] = key_of(of_two ? comparable(best + second) : best, group);
    }
};

// Of each token, the places of its experts' scores.
template <class T>
struct ChooseExperts {
    BiasedScores<T> scores;
    const std::int64_t* group_keys;  // null: all experts are candidates
    std::int64_t groups, groups_per_token, copies;
    std::int64_t* places;  // [tokens, copies]

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t token) const {
        const std::int64_t* of_groups = group_keys == nullptr ? nullptr : group_keys + token * groups;
        std::int64_t last_group = above_all_keys;  // the least key of a group that was taken
        for (std::int64_t g = 0; of_groups != nullptr && g < groups_per_token; ++g)
            last_group = largest_below(lanes, last_group, groups, [&](std::int64_t group) { return of_groups[group]; });
        const std::int64_t size = scores.experts / groups;
        const auto key = [&](std::int64_t expert) {
            const bool candidate = of_groups == nullptr || of_groups[expert / size] >= last_group;
            return candidate ? key_of(scores(token, expert), expert) : no_key;
        };
        std::int64_t last = above_all_keys;
        for (std::int64_t taken = 0; taken < copies; ++taken) {
            last = largest_below(lanes, last, scores.experts, key);
            if (lanes.first() == 0) insert(places + token * copies, taken, token * scores.experts + number_of(last));
        }
    }

private:
    // Into so many that are in order.
    static SEXTANT_KERNEL void insert(std::int64_t* ordered, std::int64_t count, std::int64_t place) {
        for (; count > 0 && ordered[count - 1] > place; --count) ordered[count] = ordered[count - 1];
        ordered[count] = place;
    }
};

// Tokens by chunks, none of which is of two sequences.
struct Chunks {
    const std::int64_t* places;  // [tokens, copies]
    RoutedTokens of;
    std::int64_t tokens, copies, experts;
    std::int64_t length, of_sequence;  // tokens of a chunk, but the last of a sequence; chunks of a sequence

    [[nodiscard]] SEXTANT_KERNEL std::int64_t count() const { return of.sequences * of_sequence; }
    // Calls work(copy) for the tokens of a chunk that chose the expert.
    template <class Work>
    SEXTANT_KERNEL void for_each(std::int64_t chunk, std::int64_t expert, const Work& work) const {
        const std::int64_t sequence = chunk / of_sequence, behind = (sequence + 1) * of.of_sequence - of.first;
        const std::int64_t first = sequence * of.of_sequence + chunk % of_sequence * length - of.first;
        for (std::int64_t token = first > 0 ? first : 0; token < first + length && token < behind && token < tokens; ++token)
            for (std::int64_t copy = token * copies; copy < (token + 1) * copies; ++copy)
                if (places[copy] == token * experts + expert) work(copy);
    }
};

struct CountChoices {
    Chunks chunks;
    std::int64_t* counts;  // [chunks, experts]
    SEXTANT_KERNEL void operator()(std::int64_t chunk, std::int64_t expert) const {
        std::int64_t count = 0;
        chunks.for_each(chunk, expert, [&](std::int64_t) { ++count; });
        counts[chunk * chunks.experts + expert] = count;
    }
};

// Counts become those of all chunks before.
struct SumCounts {
    std::int64_t* counts;  // [chunks, experts]
    std::int64_t chunks, experts;
    std::int64_t* chosen;  // [experts]
    SEXTANT_KERNEL void operator()(std::int64_t expert) const {
        std::int64_t before = 0;
        for (std::int64_t at = expert; at < chunks * experts; at += experts) {
            const std::int64_t count = counts[at];
            counts[at] = before;
            before += count;
        }
        chosen[expert] = before;
    }
};

// In order of expert, then of token.
struct NumberRows {
    Chunks chunks;
    std::int64_t capacity;                // 0: none
    const std::int64_t *before, *chosen;  // [chunks, experts], [experts]
    std::int64_t* rows;                   // [tokens, copies]
    SEXTANT_KERNEL void operator()(std::int64_t chunk, std::int64_t expert) const {
        std::int64_t first = capacity * expert, number = before[chunk * chunks.experts + expert];
        for (std::int64_t e = 0; capacity == 0 && e < expert; ++e) first += chosen[e];
        chunks.for_each(chunk, expert, [&](std::int64_t copy) {
            rows[copy] = capacity > 0 && number >= capacity ? no_row : first + number;
            ++number;
        });
    }
};

struct CountSequences {
    Chunks chunks;
    const std::int64_t *before, *chosen;  // as above
    std::int64_t* counts;                 // [sequences, experts]
    SEXTANT_KERNEL void operator()(std::int64_t sequence, std::int64_t expert) const {
        const std::int64_t experts = chunks.experts, first = sequence * chunks.of_sequence, next = first + chunks.of_sequence;
        const std::int64_t end = next < chunks.count() ? before[next * experts + expert] : chosen[expert];
        counts[sequence * experts + expert] = end - before[first * experts + expert];
    }
};

// As ComputeDevice has it.
template <class T, class Machine>
ExpertCounts choose_experts(Machine& m, const OperatorCall& c, const RoutedTokens& tokens, const Array& rows, const Array& places) {
    const auto& p = std::get<TokenPermute>(c.op.kind);
    const std::int64_t experts = c.inputs[1].elements / p.tokens, groups = p.expert_groups;
    const BiasedScores<T> scores{c.inputs[1].as<T>(), c.weights.empty() ? nullptr : c.weights[0].reals(), experts};
    Array group_keys;
    if (p.groups_per_token < groups) {
        group_keys = m.scratch(p.tokens * groups, Element::index);
        m.matrix(p.tokens, groups, GroupKeys<T>{scores, groups, experts / groups, group_keys.indices()});
    }
    m.rows(p.tokens, experts, ChooseExperts<T>{scores, group_keys.indices(), groups, p.groups_per_token, p.copies, places.indices()});

    const auto length = static_cast<std::int64_t>(std::sqrt(static_cast<double>(p.tokens)));
    const Chunks chunks{places.indices(), tokens, p.tokens, p.copies, experts, length, ceil_div(tokens.of_sequence, length)};
    const std::int64_t sequences = p.balance_loss > 0 ? tokens.sequences : 0;
    const Array of_chunks = m.scratch(chunks.count() * experts, Element::index);
    const Array counts = m.scratch((1 + sequences) * experts, Element::index);  // all that goes to the host
    std::int64_t *before = of_chunks.indices(), *chosen = counts.indices();
    m.matrix(chunks.count(), experts, CountChoices{chunks, before});
    m.elements(experts, SumCounts{before, chunks.count(), experts, chosen});
    m.matrix(chunks.count(), experts, NumberRows{chunks, p.capacity, before, chosen, rows.indices()});
    if (sequences > 0) m.matrix(sequences, experts, CountSequences{chunks, before, chosen, chosen + experts});

    std::vector<std::int64_t> numbers(static_cast<std::size_t>(counts.elements));
    m.download(counts.memory.get(), numbers.data(), counts.bytes());
    const auto of_sequences = numbers.begin() + experts;
    return {{numbers.begin(), of_sequences}, {of_sequences, numbers.end()}};
}

}  // namespace sextant::kernels
