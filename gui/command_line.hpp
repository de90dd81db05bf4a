// The arguments of sextant-gui.
#pragma once

#include <QSize>
#include <QStringList>

#include <optional>
#include <string>

namespace sextant::gui {

struct CommandLine {
    std::optional<QString> scenario;
    std::optional<QString> screenshot;  // where to
    std::optional<QString> run;         // shown beside the prediction in it
    std::string view;                   // empty: the first that shows a scenario
    std::optional<QSize> size;          // else that of the window as it was left
    bool dark = false;
    // What there is to do instead of opening a window: text for stdout, or a mistake for stderr.
    std::optional<QString> answer, mistake;
};
CommandLine read_command_line(const QStringList& arguments);

}  // namespace sextant::gui
