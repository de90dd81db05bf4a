#include "gui/models/report_tables.hpp"

#include "gui/models/text.hpp"

namespace sextant::gui {

Table figures_table(const Report& r) {
    const Estimate& e = r.estimate;
    Table t{{QStringLiteral("figure"), QStringLiteral("value"), QStringLiteral("unit")}, {}};
    const auto add = [&](const char* name, double value, const char* unit) {
        t.rows.push_back({QLatin1String(name), value, QLatin1String(unit)});
    };
    add("step time", e.step.si(), "s");
    add("step time, low", r.low.si(), "s");
    add("step time, high", r.high.si(), "s");
    add("samples per second", r.samples_per_s.si(), "1/s");
    if (r.tokens_per_s) add("tokens per second", r.tokens_per_s->si(), "1/s");
    add("peak memory", e.peak_memory.si(), "B");
    add("device memory", e.device_memory.si(), "B");
    add("MFU", r.mfu, "1");
    add("HFU", r.hfu, "1");
    return t;
}

Table terms_table(const Estimate& e) {
    Table t{{QStringLiteral("term"), QStringLiteral("seconds (stage %1)").arg(e.last_stage), QStringLiteral("share"),
             QStringLiteral("seconds (stage %1)").arg(e.slowest_stage), QStringLiteral("hidden seconds")},
            {}};
    for (const Term term : all_terms) {
        t.rows.push_back({words_of(term), e.terms[term].si(), e.terms[term] / e.step, e.slowest[term].si(), e.overlapped[term].si()});
    }
    return t;
}

Table movers_table(const Bottleneck& b) {
    Table t{{QStringLiteral("change"), QStringLiteral("step time (s)"), QStringLiteral("gain")}, {}};
    for (const Mover& m : b.movers) t.rows.push_back({q(m.change), m.step_at_double.si(), m.gain});
    return t;
}

Table inputs_table(const Report& r) {
    Table t{{QStringLiteral("input"), QStringLiteral("value"), QStringLiteral("kind"), QStringLiteral("source"), QStringLiteral("effect")},
            {}};
    for (const InputUsed& i : r.inputs) t.rows.push_back({q(i.name), q(i.value), words_of(i.kind), q(i.source), i.effect});
    return t;
}

Table memory_table(const Estimate& e) {
    Table t{{QStringLiteral("stage")}, {}};
    for (const MemoryKind kind : all_memory_kinds) t.headings += words_of(kind) + QStringLiteral(" (B)");
    t.headings += QStringLiteral("total (B)");
    for (std::size_t stage = 0; stage < e.memory.size(); ++stage) {
        std::vector<QVariant> row{static_cast<int>(stage)};
        for (const Bytes& bytes : e.memory[stage]) row.emplace_back(bytes.si());
        row.emplace_back(e.memory[stage].total().si());
        t.rows.push_back(std::move(row));
    }
    return t;
}

}  // namespace sextant::gui
