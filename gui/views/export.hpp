// A view as a picture. A second view is made for it, as wide as a page and as high as its contents, so that nothing is cut off and the view
// on the screen stays as it is. The thread of the window only records the drawing; any thread can turn that into pixels and files.
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
// Hands the drawing over in a later event, when the view is complete, unless `owner` has been destroyed by then.
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
