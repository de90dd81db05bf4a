#include "gui/views/export.hpp"

#include "gui/views/paint/look.hpp"

#include <QBuffer>
#include <QLayout>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>

namespace sextant::gui {
namespace {

constexpr int page_width = 1100, side_width = 360;
constexpr double picture_scale = 2;

int width_of(const ViewInfo& info) { return info.place == Place::centre ? page_width : side_width; }

// As high as what it shows by now.
void fit_height(View& view) {
    QWidget& page = view.page();
    if (page.layout()) page.layout()->activate();
    const int width = view.width();
    const int height =
        page.layout() && page.layout()->hasHeightForWidth() ? page.layout()->heightForWidth(width) : page.sizeHint().height();
    view.resize(width, std::max(height, 200));
    page.resize(view.size());
}

Drawing recorded(QWidget& page) {
    Drawing drawing{QPicture(), page.size(), look_of(page).background};
    QPainter painter(&drawing.picture);
    painter.setRenderHint(QPainter::Antialiasing);
    page.render(&painter, {}, {}, QWidget::DrawChildren);
    return drawing;
}

// At the resolution of what it is played on: that has to be its own. Copies of a picture share the place that they are played from, so that
// each thread plays one of its own.
void play(const Drawing& drawing, QPaintDevice& onto, double scale) {
    QPicture own;
    own.setData(drawing.picture.data(), drawing.picture.size());
    QPainter painter(&onto);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(scale, scale);
    painter.fillRect(QRect({}, drawing.size), drawing.ground);
    own.play(&painter);
}

template <class Write>
std::string written(const Write& write) {
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    write(buffer);
    return buffer.data().toStdString();
}

std::string png(Drawing drawing) {
    return written([image = image_of(std::move(drawing))](QIODevice& onto) { image.save(&onto, "PNG"); });
}

std::string svg(Drawing drawing) {
    return written([&](QIODevice& onto) {
        QSvgGenerator generator;
        generator.setOutputDevice(&onto);
        generator.setResolution(drawing.picture.logicalDpiX());
        generator.setSize(drawing.size);
        generator.setViewBox(QRect({}, drawing.size));
        play(drawing, generator, 1);
    });
}

std::string pdf(Drawing drawing) {
    return written([&](QIODevice& onto) {
        QPdfWriter writer(&onto);
        constexpr double points_per_inch = 72;
        const int dots_per_inch = drawing.picture.logicalDpiX();
        writer.setPageSize(QPageSize(QSizeF(drawing.size) * points_per_inch / dots_per_inch, QPageSize::Point));
        writer.setPageMargins({});
        writer.setResolution(dots_per_inch);
        play(drawing, writer, 1);
    });
}

}  // namespace

void draw_page(QWidget& owner, const ViewInfo& info, Workbench& workbench, Selection& selection,
               const std::function<void(const Drawing&)>& then) {
    View* view = info.make(workbench, selection).release();
    view->setParent(&owner, Qt::Window);
    view->setAttribute(Qt::WA_DontShowOnScreen);
    view->resize(width_of(info), 700);
    view->show();
    const auto draw = [view, then] {
        fit_height(*view);
        const Drawing drawing = recorded(view->page());
        view->deleteLater();
        then(drawing);
    };
    if (view->is_complete())
        QMetaObject::invokeMethod(view, draw, Qt::QueuedConnection);
    else
        QObject::connect(view, &View::completed, view, draw,
                         static_cast<Qt::ConnectionType>(Qt::QueuedConnection | Qt::SingleShotConnection));
}

QImage image_of(Drawing drawing) {
    QImage image((QSizeF(drawing.size) * picture_scale).toSize(), QImage::Format_RGB32);
    play(drawing, image, picture_scale);
    return image;
}

std::string svg_of(Drawing drawing) {
    const std::string file = svg(std::move(drawing));
    const std::size_t begins = file.find("<svg");
    return begins == std::string::npos ? std::string() : file.substr(begins);
}

const std::vector<PictureFormat>& picture_formats() {
    static const std::vector<PictureFormat> formats = {{QStringLiteral("PNG"), QStringLiteral("png"), png},
                                                       {QStringLiteral("SVG"), QStringLiteral("svg"), svg},
                                                       {QStringLiteral("PDF"), QStringLiteral("pdf"), pdf}};
    return formats;
}

}  // namespace sextant::gui
