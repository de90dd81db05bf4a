// A window as people have it before them, with settings and files of its own.
#pragma once

#include "gui/jobs/simulator.hpp"
#include "gui/views/window/main_window.hpp"

#include <gtest/gtest.h>

#include <QMessageBox>
#include <QTemporaryDir>

#include <string>
#include <vector>

namespace sextant::gui {

std::vector<std::string> view_names();

class Desk : public testing::Test {
protected:
    Desk();

    // Waits for the answer; `name` is of a bundled scenario.
    void open(const std::string& name);
    // Both settle.
    void edit(const Edits&);
    void show_view(const std::string& name);
    // Until nothing is worked out any more. Fails the test when that takes a minute.
    void settle();
    static void wait_for(const std::function<bool()>&);
    // The next question that comes up is answered so, and its text kept.
    void answer_next(QMessageBox::StandardButton);
    QString asked;

    static QString bundled(const std::string& name);
    QString write_file(const char* name, const std::string& text);

    template <class Widget>
    Widget& find(const char* object_name) {
        auto* found = window.findChild<Widget*>(QString::fromLatin1(object_name));
        if (!found) throw std::runtime_error(std::string("there is no ") + object_name);
        return *found;
    }
    Seconds step() const { return workbench.answer()->report.estimate.step; }
    QString shown_step();

    QTemporaryDir folder;

private:
    struct OwnSettings {
        explicit OwnSettings(const QTemporaryDir&);
    } settings_{folder};

public:
    Workbench workbench;
    Selection selection;
    Predictor predictor{workbench};
    Simulator simulator{workbench};
    MainWindow window{workbench, selection, predictor, false};
};

}  // namespace sextant::gui
