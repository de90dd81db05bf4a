// Work that may take longer than a frame: done in a thread of the pool, its result handed over in the thread of the window.
#pragma once

#include <QCoreApplication>
#include <QObject>
#include <QPointer>
#include <QThreadPool>

#include <exception>
#include <functional>
#include <memory>
#include <utility>

namespace sextant::gui {

// To be called where something was caught: shows it, in the thread of the window.
std::function<void()> complaint_of_caught();

// `work()` must not touch anything of the window; `then(result)` is called there, unless `owner` is gone by then. If work throws, a box
// says why, and nothing is called.
template <class Work, class Then>
void in_background(QObject* owner, Work work, Then then) {
    QThreadPool::globalInstance()->start([owner = QPointer<QObject>(owner), work = std::move(work), then = std::move(then)]() mutable {
        std::function<void()> tell;
        try {
            auto result = std::make_shared<decltype(work())>(work());
            tell = [owner, result, then = std::move(then)]() mutable {
                if (owner) then(std::move(*result));
            };
        } catch (const std::exception&) {
            tell = complaint_of_caught();
        }
        QMetaObject::invokeMethod(QCoreApplication::instance(), std::move(tell), Qt::QueuedConnection);
    });
}

// Something with a timeline, to be held on to as a whole: to give back what a long trace takes is itself longer than a frame. When the
// program ends there are no frames any more, and no pool.
template <class T>
std::shared_ptr<const T> freed_in_background(T value) {
    return {new T(std::move(value)), [](const T* no_longer_needed) {
                if (QCoreApplication::closingDown()) return delete no_longer_needed;
                QThreadPool::globalInstance()->start([no_longer_needed] {
                    if (no_longer_needed->timeline.trace) give_back(no_longer_needed->timeline);
                    delete no_longer_needed;
                });
            }};
}

}  // namespace sextant::gui
