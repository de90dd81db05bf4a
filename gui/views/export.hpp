// A view as a picture in a file, or its tables as text. What is drawn is a view of its own, as wide as a page and as high as all of it, so
// that nothing is cut off and what is on the screen stays as it is.
#pragma once

#include "gui/views/view.hpp"

#include <QImage>

#include <filesystem>
#include <vector>

namespace sextant::gui {

struct PictureFormat {
    QString name, suffix;  // "PNG", "png"
    void (*write)(QWidget&, const std::filesystem::path&);
};
const std::vector<PictureFormat>& picture_formats();

// Throws BackendError when the disk refuses.
void export_picture(const ViewInfo&, Workbench&, Selection&, const PictureFormat&, const std::filesystem::path&);
QImage image_of(const ViewInfo&, Workbench&, Selection&);

// The same as SVG elements, to stand in a page.
std::string svg_of(const ViewInfo&, Workbench&, Selection&);

// A widget at twice its size in pixels.
QImage image_of(QWidget&, double scale);

}  // namespace sextant::gui
