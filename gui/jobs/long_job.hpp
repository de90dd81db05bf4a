// Work of seconds or minutes in a thread of the pool. It reports its progress, and can be stopped.
#pragma once

#include "gui/jobs/background.hpp"
#include "gui/models/caught.hpp"
#include "model/base/diagnostics.hpp"

#include <QElapsedTimer>

#include <atomic>
#include <functional>
#include <optional>
#include <vector>

namespace sextant::gui {

// The result, or the problems that prevented it.
template <class T>
struct Outcome {
    std::optional<T> result;
    std::vector<Diagnostic> problems{};
};

class LongJob : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;
    ~LongJob() override { stop(); }

    // With this the work reports to the window.
    class Tell {
    public:
        explicit Tell(LongJob& job) : job_(&job), stopped_(job.stopped_) {}
        // `done`: the fraction of the work, 0 to 1. Returns false when the work is to stop.
        bool operator()(double done, const QString& note) const;
        // Calls a function in the thread of the window, unless the work is over by then.
        void in_window(std::function<void()>) const;

    private:
        QPointer<LongJob> job_;
        std::shared_ptr<std::atomic<bool>> stopped_;
        std::shared_ptr<QElapsedTimer> since_last_ = std::make_shared<QElapsedTimer>();
    };

    // Starts `work(tell)` in another thread, and calls `then(outcome)` in this one. Stops earlier work, whose outcome is dropped.
    template <class Work, class Then>
    void start(Work work, Then then) {
        stop();
        stopped_ = std::make_shared<std::atomic<bool>>(false);
        emit began();
        const Tell tell(*this);
        using Result = decltype(work(tell));
        in_background(
            this, [work = std::move(work), tell]() -> Outcome<Result> { return outcome_of<Result>([&] { return work(tell); }); },
            [this, mine = stopped_, then = std::move(then)](Outcome<Result> outcome) {
                if (mine != stopped_) return;
                stopped_.reset();
                emit ended();
                then(std::move(outcome));
            });
    }
    // The work ends at its next report, with what it has found so far.
    void stop() {
        if (stopped_) *stopped_ = true;
    }
    [[nodiscard]] bool is_running() const { return stopped_ != nullptr; }

signals:
    void began();
    void progressed(double done, const QString& note);
    void ended();

private:
    template <class Result, class Work>
    static Outcome<Result> outcome_of(const Work& work) {
        try {
            return {work()};
        } catch (const std::exception&) {
            return {std::nullopt, problems_caught()};
        }
    }

    std::shared_ptr<std::atomic<bool>> stopped_;  // of the work that runs; null where none does
};

}  // namespace sextant::gui
