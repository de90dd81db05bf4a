// The arguments of sextant-gui.
#pragma once

#include <QSize>
#include <QStringList>

#include <optional>
#include <string>

namespace sextant::gui {

struct CommandLine {
    std::optional<QString> scenario;
    std::optional<QString> screenshot;  // the file to write
    std::optional<QString> run;         // a run to show beside the prediction in the screenshot
    std::string view;                   // empty: the first that shows a scenario
    std::optional<QSize> size;          // absent: that of the last window
    bool dark = false;
    // Set where no window is to be opened: a text for stdout, or what is wrong with the arguments for stderr.
    std::optional<QString> answer, mistake;
};
CommandLine read_command_line(const QStringList& arguments);

}  // namespace sextant::gui
