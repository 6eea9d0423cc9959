#include "driver/stream.h"

#include <thread>

#include "driver/graph.h"

Stream::Stream(Context* context, unsigned flags, int priority) : context(context), flags(flags), priority(priority) {
    std::thread(&Stream::work, this).detach();
}

void Stream::put(std::function<void()> task, bool is_mark) {
    std::lock_guard guard(turn_);
    tasks_.push_back({std::move(task), is_mark});
    ++left_;
    changed_.notify_all();
}

bool Stream::is_idle() {
    std::lock_guard guard(turn_);
    return !left_;
}

void Stream::wait() {
    std::unique_lock guard(turn_);
    changed_.wait(guard, [this] { return !left_; });
}

void Stream::end() {
    std::lock_guard guard(turn_);
    is_ending_ = true;
    changed_.notify_all();
}

void Stream::work() {
    for (;;) {
        Task task;
        {
            std::unique_lock guard(turn_);
            changed_.wait(guard, [this] { return !tasks_.empty() || is_ending_; });
            if (tasks_.empty()) break;
            task = std::move(tasks_.front());
            tasks_.pop_front();
        }
        if (task.is_mark || !context->broken) task.run();
        task = {};
        std::lock_guard guard(turn_);
        --left_;
        changed_.notify_all();
    }
    delete this;
}

Stream* stream_of(Stream* handle, Context* context) {
    std::lock_guard guard(context->turn);
    if (is_default(handle)) {
        if (!context->legacy) {
            context->legacy = new Stream(context, 0, 0);
            context->streams.insert(context->legacy);
        }
        return context->legacy;
    }
    if (context->streams.count(handle)) return handle;
    for (int device = 0; device < device_count(); ++device) {
        Context* other = primary(device);
        if (other == context) continue;
        std::lock_guard other_guard(other->turn);
        if (other->streams.count(handle)) return handle;
    }
    return nullptr;
}

std::shared_ptr<Point> mark(Stream* stream) {
    auto point = std::make_shared<Point>();
    stream->put([point] { point->reach(); }, true);
    return point;
}

void wait_for_all(Context* context) {
    std::vector<std::shared_ptr<Point>> points;
    {
        std::lock_guard guard(context->turn);
        for (Stream* each : context->streams) points.push_back(mark(each));
    }
    for (auto& point : points) point->wait();
}

namespace {

// The default stream and the blocking ones wait for each other.
void take_turns(Stream* stream) {
    Context* context = stream->context;
    std::lock_guard guard(context->turn);
    auto follow = [&](Stream* other) {
        if (other != stream && !other->is_idle()) stream->put([point = mark(other)] { point->wait(); }, true);
    };
    if (stream == context->legacy) {
        for (Stream* other : context->blocking) follow(other);
    } else if (context->legacy && context->blocking.count(stream)) {
        follow(context->legacy);
    }
}

}  // namespace

int enqueue(Stream* handle, Node::Kind kind, Work work, std::shared_ptr<KernelPlan> plan) {
    CURRENT(context);
    Stream* stream = stream_of(handle, context);
    if (!stream) return INVALID_HANDLE;
    if (stream->capture)
        return captured(stream, std::make_shared<Node>(Node{kind, std::move(work), {}, std::move(plan)}));
    take_turns(stream);
    stream->put([context = stream->context, work = std::move(work)] { broken_by(context, work(context)); });
    return SUCCESS;
}

void broken_by(Context* context, int code) {
    int none = 0;
    if (code) context->broken.compare_exchange_strong(none, code);
}
