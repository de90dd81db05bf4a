// Simulates the step of a session in a thread of the pool, when a view wants it. Only the newest question counts. One simulation runs at a
// time: it begins when the one before has left its thread, so that stopped ones do not slow down the answers.
#pragma once

#include "gui/models/workbench.hpp"

#include <QObject>
#include <QTimer>

#include <atomic>

namespace sextant::gui {

class Simulator : public QObject {
    Q_OBJECT

public:
    // Runs the simulations that the workbench wants. The workbench must outlive this object.
    explicit Simulator(Workbench&);
    ~Simulator() override;

    [[nodiscard]] bool is_running() const { return wanted_ != nullptr; }

private:
    // What both threads share.
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
    SessionPtr wanted_;           // null: none
    std::shared_ptr<Work> work_;  // of the other thread: what is wanted, or was stopped
    QTimer clock_;
};

}  // namespace sextant::gui
