// Streams, each with a thread that does its work, and the places in them that events mark.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "driver/context.h"

using Clock = std::chrono::steady_clock;

// A place in a stream, reached once.
struct Point {
    std::atomic<bool> is_done{false};
    Clock::time_point at;

    void reach() {
        at = Clock::now();
        is_done.store(true, std::memory_order_release);
        is_done.notify_all();
    }
    void wait() { is_done.wait(false, std::memory_order_acquire); }
};

struct Capture;
struct Node;

class Stream {
   public:
    Stream(Context* context, unsigned flags, int priority);

    // Work that is left out once a kernel of the context has failed, and marks, which are always reached.
    void put(std::function<void()> task, bool is_mark = false);
    bool is_idle();
    void wait();
    // The stream goes when its work is done.
    void end();

    Context* const context;
    const unsigned flags;
    const int priority;
    std::shared_ptr<Capture> capture;  // while it records

   private:
    void work();

    std::mutex turn_;
    std::condition_variable changed_;
    struct Task {
        std::function<void()> run;
        bool is_mark;
    };
    std::deque<Task> tasks_;
    std::size_t left_ = 0;
    bool is_ending_ = false;
};

struct Event {
    bool is_timed;
    std::mutex turn;
    std::shared_ptr<Point> point;      // of the last record; none before it
    std::shared_ptr<Capture> capture;  // if that record was captured
    std::vector<Node*> captured;       // and what it comes after
};

inline bool is_default(Stream* handle) {
    return reinterpret_cast<Address>(handle) <= 2;
}

// A stream by its handle, nullptr if it is none; 0, 1 and 2 are the current context's default stream.
Stream* stream_of(Stream* handle, Context* context);
// A point behind all that a stream has so far.
std::shared_ptr<Point> mark(Stream* stream);
// Waits for all streams of a context.
void wait_for_all(Context* context);
