#include "gui/models/timeline/rows.hpp"

#include "gui/models/text.hpp"

#include <algorithm>
#include <utility>

namespace sextant::gui {
namespace {

QString tip_of(const TraceRank& rank) {
    QString tip = rank.server ? QStringLiteral("parameter server %1").arg(rank.rank)
                              : QStringLiteral("rank %1 of pipeline stage %2").arg(rank.rank).arg(rank.stage);
    if (rank.multiplicity > 1) tip += QStringLiteral("; it stands for %1 ranks that do the same").arg(grouped(rank.multiplicity));
    if (!rank.host.empty()) tip += QStringLiteral("; on ") + q(rank.host);
    return tip;
}

std::vector<RankRows> rows_of(const Timeline& timeline, Origin origin, bool pipelined, bool names_origin) {
    std::vector<RankRows> rows;
    const auto lanes = timeline.lanes.lanes();
    for (LaneIndex l = 0; l < lanes.size(); ++l) {
        const TraceRank& rank = timeline.trace->ranks[lanes[l].rank];
        if (rows.empty() || rows.back().rank != lanes[l].rank) {
            const QString name = name_of(rank, pipelined);
            const QString measured = names_origin
                                         ? QStringLiteral("%1, %2").arg(
                                               name, origin == Origin::measured ? QStringLiteral("measured") : QStringLiteral("predicted"))
                                         : name;
            rows.push_back({measured, tip_of(rank), origin, lanes[l].rank, {}});
        }
        const bool is_main = (lanes[l].stream == Stream::compute && !lanes[l].behind) || lanes[l].stream == Stream::server;
        rows.back().streams.push_back({origin, l, name_of(lanes[l]), is_main});
    }
    return rows;
}

}  // namespace

bool is_pipelined(const Trace& trace) {
    return std::ranges::any_of(trace.ranks, [](const TraceRank& r) { return r.stage > 0; });
}

QString name_of(const TraceRank& rank, bool pipelined) {
    const QString count = rank.multiplicity > 1 ? QStringLiteral(" \u00d7%1").arg(grouped(rank.multiplicity)) : QString();
    if (rank.server) return QStringLiteral("server %1").arg(rank.rank) + count;
    if (!pipelined) return QStringLiteral("rank %1").arg(rank.rank) + count;
    if (rank.multiplicity > 1) return QStringLiteral("stage %1").arg(rank.stage) + count;
    return QStringLiteral("stage %1, rank %2").arg(rank.stage).arg(rank.rank);
}

QString name_of(const Lane& lane) {
    switch (lane.stream) {
        case Stream::compute: return lane.behind ? QStringLiteral("behind kernels") : QStringLiteral("compute");
        case Stream::communication: return QStringLiteral("communication");
        case Stream::send_next: return QStringLiteral("to next stage");
        case Stream::send_previous: return QStringLiteral("to stage before");
        case Stream::copy: return QStringLiteral("copies");
        case Stream::server: return QStringLiteral("server");
        case Stream::loader: return QStringLiteral("loader");
    }
    return {};
}

std::vector<RankRows> rank_rows(const Timeline& predicted, const Timeline* measured) {
    const bool pipelined = is_pipelined(*predicted.trace);
    std::vector<RankRows> first = rows_of(predicted, Origin::predicted, pipelined, measured != nullptr);
    if (!measured) return first;
    std::vector<RankRows> second = rows_of(*measured, Origin::measured, pipelined, true), rows;
    const auto ranks = [&](const RankRows& r) -> const TraceRank& {
        return (r.origin == Origin::predicted ? predicted : *measured).trace->ranks[r.rank];
    };
    for (RankRows& of : first) {
        const TraceRank& rank = ranks(of);
        rows.push_back(of);
        for (RankRows& real : second) {
            const TraceRank& other = ranks(real);
            const bool same = rank.multiplicity > 1 ? rank.stage == other.stage : rank.rank == other.rank;
            if (real.streams.empty() || rank.server != other.server || !same) continue;
            rows.push_back(std::exchange(real, {}));
        }
    }
    for (RankRows& left : second)
        if (!left.streams.empty()) rows.push_back(std::move(left));
    return rows;
}

double highest_of(const UtilizationSeries& s) { return s.busy.empty() ? 0 : *std::ranges::max_element(s.busy); }

std::vector<const UtilizationSeries*> busiest_links(const SimulationReport& r, std::size_t most) {
    std::vector<const UtilizationSeries*> links;
    for (const UtilizationSeries& s : r.links)
        if (highest_of(s) > 0) links.push_back(&s);
    const auto mean = [](const UtilizationSeries* s) { return mean_of(*s); };
    const auto fullest = [](const UtilizationSeries* s) { return std::pair(highest_of(*s), mean_of(*s)); };
    std::ranges::stable_sort(links, std::ranges::greater(), fullest);
    if (links.size() <= most) return links;
    const auto half = links.begin() + static_cast<std::ptrdiff_t>(most / 2);
    std::stable_sort(half, links.end(), [&](const auto* a, const auto* b) { return mean(a) > mean(b); });
    links.resize(most);
    std::ranges::stable_sort(links, std::ranges::greater(), fullest);
    return links;
}

QString name_of(const UtilizationSeries& s) {
    QString name = with_signs(s.name);
    return s.count > 1 ? name + QStringLiteral(" \u00d7%1").arg(grouped(s.count)) : name;
}

}  // namespace sextant::gui
