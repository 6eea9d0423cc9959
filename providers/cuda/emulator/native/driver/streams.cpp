// Streams, events and waits as the driver's functions.

#include <cstring>
#include <thread>

#include "driver/graph.h"
#include "driver/pool.h"
#include "machine/heap.h"

namespace {

constexpr unsigned NON_BLOCKING = 1;
constexpr unsigned NO_TIMING = 2;

bool is_reached(std::uint64_t word, std::uint64_t value, unsigned flags, bool is_wide) {
    enum { AT_LEAST, EQUAL, AND, NOR };
    switch (flags & 3) {
        case AT_LEAST:
            return is_wide ? static_cast<std::int64_t>(word - value) >= 0
                           : static_cast<std::int32_t>(static_cast<std::uint32_t>(word - value)) >= 0;
        case EQUAL:
            return word == value;
        case AND:
            return word & value;
        default:
            return ~(word | value);
    }
}

template <class T>
int wait_for_value(Stream* stream, Address place, T value, unsigned flags) {
    if (!Heap::get().holds(place, sizeof(T)) && !Heap::get().is_host(place, sizeof(T))) return INVALID_VALUE;
    return enqueue(stream, Node::EMPTY, [=](Context*) {
        auto* word = reinterpret_cast<T volatile*>(bytes_at(place));
        while (!is_reached(*word, value, flags, sizeof(T) == 8))
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        return SUCCESS;
    });
}

template <class T>
int write_value(Stream* stream, Address place, T value) {
    if (!Heap::get().holds(place, sizeof(T)) && !Heap::get().is_host(place, sizeof(T))) return INVALID_VALUE;
    return enqueue(stream, Node::EMPTY, [=](Context*) {
        *reinterpret_cast<T volatile*>(bytes_at(place)) = value;
        Heap::mark_written(place, sizeof(T));
        return SUCCESS;
    });
}

int create(Stream** stream, unsigned flags, int priority) {
    CURRENT(context);
    *stream = new Stream(context, flags, priority);
    std::lock_guard guard(context->turn);
    context->streams.insert(*stream);
    if (!(flags & NON_BLOCKING)) context->blocking.insert(*stream);
    return SUCCESS;
}

}  // namespace

extern "C" {

int cuStreamCreate(Stream** stream, unsigned flags) {
    return create(stream, flags, 0);
}
int cuStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
    return create(stream, flags, priority);
}
int cuStreamDestroy_v2(Stream* handle) {
    CURRENT(context);
    Stream* stream = stream_of(handle, context);
    if (!stream || is_default(handle)) return INVALID_HANDLE;
    {
        std::lock_guard guard(stream->context->turn);
        stream->context->streams.erase(stream);
        stream->context->blocking.erase(stream);
    }
    stream->end();
    return SUCCESS;
}
int cuStreamSynchronize(Stream* handle) {
    CURRENT(context);
    Stream* stream = stream_of(handle, context);
    if (!stream) return INVALID_HANDLE;
    if (int code = refuse_capture(stream)) return code;
    stream->wait();
    settle_pools();
    return stream->context->broken;
}
int cuStreamQuery(Stream* handle) {
    CURRENT(context);
    Stream* stream = stream_of(handle, context);
    if (!stream) return INVALID_HANDLE;
    if (int code = refuse_capture(stream)) return code;
    return stream->is_idle() ? SUCCESS : NOT_READY;
}
int cuStreamGetCtx(Stream* handle, Context** result) {
    CURRENT(context);
    Stream* stream = stream_of(handle, context);
    if (!stream) return INVALID_HANDLE;
    *result = stream->context;
    return SUCCESS;
}
int cuStreamGetFlags(Stream* handle, unsigned* flags) {
    CURRENT(context);
    Stream* stream = stream_of(handle, context);
    if (!stream) return INVALID_HANDLE;
    *flags = stream->flags;
    return SUCCESS;
}
int cuStreamGetPriority(Stream* handle, int* priority) {
    CURRENT(context);
    Stream* stream = stream_of(handle, context);
    if (!stream) return INVALID_HANDLE;
    *priority = stream->priority;
    return SUCCESS;
}
int cuStreamWaitEvent(Stream* handle, Event* event, unsigned) {
    CURRENT(context);
    Stream* stream = stream_of(handle, context);
    if (!stream || !event) return INVALID_HANDLE;
    std::unique_lock guard(event->turn);
    if (event->capture && (!stream->capture || stream->capture == event->capture)) {
        stream->capture = event->capture;
        auto& ends = stream->capture->ends[stream];
        ends.insert(ends.end(), event->captured.begin(), event->captured.end());
        return SUCCESS;
    }
    auto point = event->point;
    guard.unlock();
    if (!point) return SUCCESS;
    if (stream->capture) return captured(stream, nullptr);
    stream->put([point] { point->wait(); }, true);
    return SUCCESS;
}
int cuStreamWaitValue32_v2(Stream* stream, Address place, std::uint32_t value, unsigned flags) {
    return wait_for_value(stream, place, value, flags);
}
int cuStreamWaitValue64_v2(Stream* stream, Address place, std::uint64_t value, unsigned flags) {
    return wait_for_value(stream, place, value, flags);
}
int cuStreamWriteValue32_v2(Stream* stream, Address place, std::uint32_t value, unsigned) {
    return write_value(stream, place, value);
}
int cuStreamWriteValue64_v2(Stream* stream, Address place, std::uint64_t value, unsigned) {
    return write_value(stream, place, value);
}
int cuLaunchHostFunc(Stream* stream, void (*function)(void*), void* data) {
    return enqueue(stream, Node::HOST, [=](Context*) {
        function(data);
        return SUCCESS;
    });
}
int cuStreamAddCallback(Stream* handle, void (*function)(Stream*, int, void*), void* data, unsigned) {
    return enqueue(handle, Node::HOST, [=](Context* context) {
        function(handle, context->broken, data);
        return SUCCESS;
    });
}
int cuStreamAttachMemAsync(Stream*, Address, std::size_t, unsigned) {
    return SUCCESS;
}

int cuEventCreate(Event** event, unsigned flags) {
    CURRENT(context);
    *event = new Event{!(flags & NO_TIMING), {}, nullptr, nullptr, {}};
    return SUCCESS;
}
int cuEventDestroy_v2(Event* event) {
    if (!event) return INVALID_HANDLE;
    delete event;
    return SUCCESS;
}
int cuEventRecord(Event* event, Stream* handle) {
    CURRENT(context);
    Stream* stream = stream_of(handle, context);
    if (!stream || !event) return INVALID_HANDLE;
    std::lock_guard guard(event->turn);
    event->capture = stream->capture;
    if (stream->capture) {
        event->captured = stream->capture->ends[stream];
        return SUCCESS;
    }
    auto point = std::make_shared<Point>();
    event->point = point;
    if (int code = enqueue(handle, Node::RECORD_EVENT, [](Context*) { return SUCCESS; })) return code;
    stream->put([point] { point->reach(); }, true);
    return SUCCESS;
}
int cuEventRecordWithFlags(Event* event, Stream* stream, unsigned) {
    return cuEventRecord(event, stream);
}
int cuEventQuery(Event* event) {
    CURRENT(context);
    if (!event) return INVALID_HANDLE;
    std::lock_guard guard(event->turn);
    if (event->capture) return STREAM_CAPTURE_UNSUPPORTED;
    return !event->point || event->point->is_done ? SUCCESS : NOT_READY;
}
int cuEventSynchronize(Event* event) {
    CURRENT(context);
    if (!event) return INVALID_HANDLE;
    std::unique_lock guard(event->turn);
    if (event->capture) return STREAM_CAPTURE_UNSUPPORTED;
    auto point = event->point;
    guard.unlock();
    if (point) point->wait();
    settle_pools();
    return context->broken;
}
int cuEventElapsedTime_v2(float* milliseconds, Event* earlier, Event* later) {
    CURRENT(context);
    if (!earlier || !later || !earlier->is_timed || !later->is_timed || !earlier->point || !later->point)
        return INVALID_HANDLE;
    if (!earlier->point->is_done || !later->point->is_done) return NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(later->point->at - earlier->point->at).count();
    return SUCCESS;
}
int cuEventElapsedTime(float* milliseconds, Event* earlier, Event* later) {
    return cuEventElapsedTime_v2(milliseconds, earlier, later);
}
}
