#include "gui/jobs/long_job.hpp"

namespace sextant::gui {

// Ten times a second is as often as anybody reads it.
bool LongJob::Tell::operator()(double done, const QString& note) const {
    constexpr qint64 between_ms = 100;
    if (*stopped_) return false;
    if (since_last_->isValid() && since_last_->elapsed() < between_ms) return true;
    since_last_->start();
    in_window([job = job_, done, note] { emit job->progressed(done, note); });
    return true;
}

void LongJob::Tell::in_window(std::function<void()> what) const {
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [job = job_, stopped = stopped_, what = std::move(what)] {
            if (job && job->stopped_ == stopped) what();
        },
        Qt::QueuedConnection);
}

}  // namespace sextant::gui
