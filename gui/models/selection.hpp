// What the user has selected, which all views share: a range chosen in one view filters the others.
#pragma once

#include "model/graph/task_graph.hpp"
#include "model/plan/plan.hpp"
#include "model/report/report.hpp"

#include <QObject>
#include <QString>

#include <optional>

namespace sextant::gui {

struct TimeRange {
    Seconds from, to;
    friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

// "13.1502 s to 13.1532 s": as many digits as its width needs.
QString words_of(const TimeRange&);

struct Selected {
    std::optional<TimeRange> range;
    std::optional<GraphRank> rank;
    std::optional<SegmentIndex> segment;
    std::optional<int> stage;
    std::optional<Term> term;
    std::optional<PlanDimension> dimension;
    friend bool operator==(const Selected&, const Selected&) = default;
};

class Selection : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;

    [[nodiscard]] const Selected& now() const { return now_; }
    void set(const Selected&);
    void clear() { set({}); }
    void select(std::optional<Term>);

signals:
    void changed();

private:
    Selected now_;
};

}  // namespace sextant::gui
