// A desk for tests of files, which also reads what was written and what a message says.
#pragma once

#include "tests/gui/desk.hpp"

#include <QAbstractButton>
#include <QMessageBox>

#include <fstream>
#include <sstream>

namespace sextant::gui {

inline std::string contents(const QString& path) {
    std::ostringstream text;
    text << std::ifstream(path.toStdString()).rdbuf();
    return text.str();
}

class Files : public Desk {
protected:
    // The message that comes up, and its text.
    QMessageBox& message_box(const char* name) {
        wait_for([&] { return window.findChild<QMessageBox*>(QString::fromLatin1(name)) != nullptr; });
        return find<QMessageBox>(name);
    }
    std::string message(const char* name) {
        QMessageBox& box = message_box(name);
        std::string text = box.text().toStdString();
        delete &box;
        return text;
    }
    // Opens a copy of the default scenario, and returns its path.
    QString open_copy() {
        const QString path = write_file("mine.json", contents(bundled("default")));
        window.files().open(path);
        settle();
        return path;
    }
    // Opens a scenario that was refused all the same.
    void open_to_mend() {
        QMessageBox& box = message_box("refusal");
        for (QAbstractButton* button : box.buttons())
            if (box.buttonRole(button) == QMessageBox::AcceptRole) button->click();
    }
    QString broken() {
        return write_file("broken.json", R"({"schema": "scenario/1", "name": "broken", "workload": "gpt3-2.7b",
            "hardware": {"cluster": "selene", "device": {"memory": 40}}, "plan": {"dp": 8, "micro_batsh": 1, "global_batch": 8},
            "framework": "megatron-core"})");
    }
};

}  // namespace sextant::gui
