// Runs work that may take longer than a frame in a thread of the pool, and hands its result over in the thread of the window.
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

// To be called in a catch block: returns a function that shows the exception, for the thread of the window.
std::function<void()> complaint_of_caught();

// `work()` must not touch the window. `then(result)` is called in the thread of the window, unless `owner` has been destroyed. If work
// throws, a message box shows the reason, and `then` is not called.
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

// Owns something with a timeline, and frees it in a thread of the pool, because freeing a long trace takes longer than a frame. At the end
// of the program, when there is no pool, it frees it at once.
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
