// Plays the step of a session event by event in a thread of the pool, when a view wants it. Only the newest question counts, and one is
// played at a time: it begins when the one before has let go of its thread, so that those that were stopped take nothing from the answers.
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

    [[nodiscard]] bool is_at_work() const { return wanted_ != nullptr; }

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
    void begin();
    void end(const std::shared_ptr<const Simulated>&);

    Workbench& workbench_;
    SessionPtr wanted_;           // null: nothing is
    std::shared_ptr<Work> work_;  // in the other thread, of what is wanted or was stopped
    QTimer clock_;
};

}  // namespace sextant::gui
