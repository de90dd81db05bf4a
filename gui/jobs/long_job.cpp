#include "gui/jobs/long_job.hpp"

#include <QElapsedTimer>

namespace sextant::gui {

// Ten times a second is as often as anybody reads it.
LongJob::Tell LongJob::teller() {
    constexpr qint64 between_ms = 100;
    return [job = QPointer<LongJob>(this), stopped = stopped_, since_last = std::make_shared<QElapsedTimer>()](double done,
                                                                                                               const QString& note) {
        if (*stopped) return false;
        if (since_last->isValid() && since_last->elapsed() < between_ms) return true;
        since_last->start();
        QMetaObject::invokeMethod(
            QCoreApplication::instance(),
            [job, stopped, done, note] {
                if (job && job->stopped_ == stopped) emit job->progressed(done, note);
            },
            Qt::QueuedConnection);
        return true;
    };
}

}  // namespace sextant::gui
