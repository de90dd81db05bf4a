// A view as a picture. What is drawn is a view of its own, as wide as a page and as high as all of it, so that nothing is cut off and what
// is on the screen stays as it is. The thread of the window only records how; pixels and files are made of that in any thread.
#pragma once

#include "gui/views/view.hpp"

#include <QImage>
#include <QPicture>

#include <functional>
#include <string>
#include <vector>

namespace sextant::gui {

struct Drawing {
    QPicture picture;
    QSize size;
    QColor ground;
};
// Hands the drawing over in a later event: once the view is made, and is complete. Not if `owner` is gone by then.
void draw_page(QWidget& owner, const ViewInfo&, Workbench&, Selection&, const std::function<void(const Drawing&)>& then);

// At twice its size in pixels.
QImage image_of(Drawing);
// SVG elements, to stand in a page.
std::string svg_of(Drawing);

struct PictureFormat {
    QString name, suffix;  // "PNG", "png"
    std::string (*file)(Drawing);
};
const std::vector<PictureFormat>& picture_formats();

}  // namespace sextant::gui
