// A desk for tests of files, which also reads what was written and what a message says.
#pragma once

#include "tests/gui/desk.hpp"

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
    // The text of the message that comes up.
    std::string message(const char* name) {
        wait_for([&] { return window.findChild<QMessageBox*>(QString::fromLatin1(name)) != nullptr; });
        auto* box = window.findChild<QMessageBox*>(QString::fromLatin1(name));
        std::string text = box->text().toStdString();
        delete box;
        return text;
    }
    QString broken() {
        return write_file("broken.json", R"({"schema": "scenario/1", "name": "broken", "workload": "gpt3-2.7b",
            "hardware": {"cluster": "selene", "device": {"memory": 40}}, "plan": {"dp": 8, "micro_batsh": 1, "global_batch": 8},
            "framework": "megatron-core"})");
    }
};

}  // namespace sextant::gui
