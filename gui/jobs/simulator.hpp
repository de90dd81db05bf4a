// Plays the step of a session event by event in a thread of the pool, when a view wants it. Only the newest question counts.
#pragma once

#include "gui/models/workbench.hpp"

#include <QObject>
#include <QTimer>

#include <atomic>

namespace sextant::gui {

class Simulator : public QObject {
    Q_OBJECT

public:
    // Answers what the workbench wants. Outlived by it.
    explicit Simulator(Workbench&);
    ~Simulator() override;

    [[nodiscard]] bool is_at_work() const { return work_ != nullptr; }

private:
    // What both threads know of it.
    struct Work {
        SessionPtr question;
        std::atomic<double> played = 0;
        std::atomic<bool> stopped = false;
    };
    static std::shared_ptr<const Simulated> simulated(Work&);  // null where it was stopped
    void play(const SessionPtr& question);
    void stop();
    void deliver(const std::shared_ptr<Work>&, const std::shared_ptr<const Simulated>&);

    Workbench& workbench_;
    std::shared_ptr<Work> work_;
    QTimer clock_;
};

}  // namespace sextant::gui
