#include "gui/views/export.hpp"

#include "gui/views/paint/look.hpp"
#include "model/base/diagnostics.hpp"
#include "model/io/format/replace_file.hpp"

#include <QBuffer>
#include <QEventLoop>
#include <QLayout>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>

namespace sextant::gui {
namespace {

constexpr int page_width = 1100, side_width = 360;
constexpr double picture_scale = 2;

// The view, laid out as a page.
std::unique_ptr<View> laid_out(const ViewInfo& info, Workbench& workbench, Selection& selection) {
    const int width = info.place == Place::centre ? page_width : side_width;
    std::unique_ptr<View> view = info.make(workbench, selection);
    view->setAttribute(Qt::WA_DontShowOnScreen);
    view->resize(width, 700);
    view->show();
    if (!view->is_complete()) {
        QEventLoop until_it_is;
        QObject::connect(view.get(), &View::completed, &until_it_is, &QEventLoop::quit);
        until_it_is.exec();
    }
    QWidget& page = view->page();
    if (page.layout()) page.layout()->activate();  // of what it shows by now
    const int height =
        page.layout() && page.layout()->hasHeightForWidth() ? page.layout()->heightForWidth(width) : page.sizeHint().height();
    view->resize(width, std::max(height, 200));
    page.resize(view->size());
    return view;
}

QString text_of(const std::filesystem::path& path) { return QString::fromStdString(path.string()); }

void render(QWidget& widget, QPaintDevice& onto, double scale) {
    QPainter painter;
    if (!painter.begin(&onto)) throw BackendError("cannot draw into the file");
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(scale, scale);
    painter.fillRect(widget.rect(), look_of(widget).background);
    widget.render(&painter, {}, {}, QWidget::DrawChildren);
}

void write_png(QWidget& widget, const std::filesystem::path& path) {
    if (!image_of(widget, picture_scale).save(text_of(path), "PNG")) throw BackendError("cannot write " + path.string());
}

void draw_svg(QWidget& widget, QSvgGenerator& svg) {
    svg.setSize(widget.size());
    svg.setViewBox(widget.rect());
    render(widget, svg, 1);
}

void write_svg(QWidget& widget, const std::filesystem::path& path) {
    QSvgGenerator svg;
    svg.setFileName(text_of(path));
    draw_svg(widget, svg);
}

void write_pdf(QWidget& widget, const std::filesystem::path& path) {
    QPdfWriter pdf(text_of(path));
    constexpr double dots_per_inch = 96, points_per_inch = 72;
    pdf.setPageSize(QPageSize(QSizeF(widget.size()) * points_per_inch / dots_per_inch, QPageSize::Point));
    pdf.setPageMargins({});
    pdf.setResolution(static_cast<int>(dots_per_inch));
    render(widget, pdf, 1);
}

}  // namespace

const std::vector<PictureFormat>& picture_formats() {
    static const std::vector<PictureFormat> formats = {{QStringLiteral("PNG"), QStringLiteral("png"), write_png},
                                                       {QStringLiteral("SVG"), QStringLiteral("svg"), write_svg},
                                                       {QStringLiteral("PDF"), QStringLiteral("pdf"), write_pdf}};
    return formats;
}

void export_picture(const ViewInfo& info, Workbench& workbench, Selection& selection, const PictureFormat& format,
                    const std::filesystem::path& path) {
    const std::unique_ptr<View> view = laid_out(info, workbench, selection);
    replace_file(path, [&](const std::filesystem::path& aside) {
        format.write(view->page(), aside);
        if (!std::filesystem::exists(aside)) throw BackendError("cannot write " + path.string());
    });
}

QImage image_of(const ViewInfo& info, Workbench& workbench, Selection& selection) {
    return image_of(laid_out(info, workbench, selection)->page(), picture_scale);
}

std::string svg_of(const ViewInfo& info, Workbench& workbench, Selection& selection) {
    QBuffer buffer;
    QSvgGenerator svg;
    svg.setOutputDevice(&buffer);
    draw_svg(laid_out(info, workbench, selection)->page(), svg);
    const std::string file = buffer.data().toStdString();
    const std::size_t begins = file.find("<svg");
    return begins == std::string::npos ? std::string() : file.substr(begins);
}

QImage image_of(QWidget& widget, double scale) {
    QImage image((QSizeF(widget.size()) * scale).toSize(), QImage::Format_RGB32);
    image.fill(look_of(widget).background);
    render(widget, image, scale);
    return image;
}

}  // namespace sextant::gui
