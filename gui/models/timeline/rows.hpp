// The rows of a picture of timelines: ranks with their streams, and links.
#pragma once

#include "gui/models/timeline/timeline.hpp"
#include "model/report/simulation_report.hpp"

#include <QString>

#include <vector>

namespace sextant::gui {

enum class Origin { predicted, measured };

struct StreamRow {
    Origin origin = Origin::predicted;
    LaneIndex lane = 0;
    QString name;          // "compute", "to the next stage"
    bool is_main = false;  // the stream on which kernels run
};

// A rank, or several ranks that one represents.
struct RankRows {
    QString name, tip;
    Origin origin = Origin::predicted;
    GraphRank rank = 0;
    std::vector<StreamRow> streams;
};

// `measured` may be null. Each of its ranks is below its prediction.
std::vector<RankRows> rank_rows(const Timeline& predicted, const Timeline* measured);

bool is_pipelined(const Trace&);
// "stage 3, rank 192"
QString name_of(const TraceRank&, bool pipelined);
QString name_of(const Lane&);

// The links with the highest utilization at any time, highest first, and those that were used most; at most `most`.
std::vector<const UtilizationSeries*> busiest_links(const SimulationReport&, std::size_t most);
double highest_of(const UtilizationSeries&);
// "n0.gpu3 -> nvswitch0", and how many are like it
QString name_of(const UtilizationSeries&);

}  // namespace sextant::gui
