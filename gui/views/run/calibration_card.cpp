#include "gui/views/run/calibration_card.hpp"

#include "gui/views/run/child_panel.hpp"
#include "model/io/format/json_text.hpp"

#include <QCheckBox>
#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QStandardPaths>

namespace sextant::gui {

CalibrationCard::CalibrationCard(Workbench& workbench) : Card(tr("Calibrate this machine")), workbench_(workbench) {
    auto* what_for =
        text_label(Type::body, nullptr,
                   tr("Small jobs are run here, and the numbers of a machine fitted to them: its rates, its links, its overheads. "
                      "What is predicted with this profile rests on what was measured here."));
    body().addWidget(what_for);
    make_choices();
    panel_ = new ChildPanel(calibration_, *calibrate_, QStringLiteral("calibrate"));
    body().addWidget(panel_);
    connect(&calibration_, &Child::began, this, [this] { use_->hide(); });
    connect(&calibration_, &Child::ended, this, [this](const ChildEnd& how) { end(how); });
}

void CalibrationCard::make_choices() {
    profile_ = with_name("calibrate.profile", new QLineEdit(QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation) +
                                                            QStringLiteral("/this-machine.json")));
    profile_->setAccessibleName(tr("The profile"));
    profile_->setToolTip(tr("Where the profile goes"));
    quick_ = new QCheckBox(tr("Quick: under 40 seconds"));
    quick_->setChecked(true);
    calibrate_ = with_name("calibrate.start", new QPushButton(tr("Calibrate")));
    use_ = with_name("calibrate.use", new QPushButton(tr("Use the profile")));
    use_->setToolTip(tr("As the cluster of this scenario: one change that can be undone"));
    use_->hide();
    auto* row = new QHBoxLayout;
    row->setSpacing(gap + 4);
    for (QWidget* w : std::initializer_list<QWidget*>{calibrate_, use_, quick_}) row->addWidget(w);
    row->addStretch(1);
    body().addWidget(profile_);
    body().addLayout(row);
    connect(calibrate_, &QPushButton::clicked, this, [this] { calibrate(); });
    connect(use_, &QPushButton::clicked, this, [this] {
        workbench_.edit({{"hardware.cluster", json_text(profile_path().toStdString())}});
    });
}

QString CalibrationCard::profile_path() const {
    QString path = profile_->text().trimmed();
    return path.startsWith(QStringLiteral("~/")) ? path.replace(0, 1, QDir::homePath()) : path;
}

void CalibrationCard::calibrate() {
    const QString path = profile_path();
    QDir().mkpath(QFileInfo(path).absolutePath());
    QStringList words{QStringLiteral("calibrate"), QStringLiteral("--progress"), QStringLiteral("--out"), path};
    if (quick_->isChecked()) words << QStringLiteral("--quick");
    calibration_.start(QStringLiteral("sextant"), words);
}

void CalibrationCard::end(const ChildEnd& how) {
    if (how.stopped || !how.problem.isEmpty()) return;
    panel_->say(tr("The profile is written to %1.").arg(profile_->text().toHtmlEscaped()));
    use_->show();
}

}  // namespace sextant::gui
