// The progress of a long job, and a button that stops it. Hidden while nothing runs.
#pragma once

#include "gui/jobs/long_job.hpp"

#include <QWidget>

class QLabel;
class QProgressBar;

namespace sextant::gui {

class JobBar : public QWidget {
    Q_OBJECT

public:
    // `name`: of the button that stops it.
    JobBar(LongJob&, const QString& name);

private:
    QProgressBar* bar_;
    QLabel* note_;
};

}  // namespace sextant::gui
