// Streams, each with a thread that does its work, and the places in them that events mark.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

struct Context {
    int device;
};

inline thread_local std::vector<Context*> stack;

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

struct Event {
    bool is_timed;
    std::mutex turn;
    std::shared_ptr<Point> point;  // of the last record; none before it
};

class Stream {
   public:
    explicit Stream(Context* context) : context(context) { std::thread(&Stream::work, this).detach(); }

    void put(std::function<void()> task) {
        std::lock_guard guard(turn_);
        tasks_.push_back(std::move(task));
        ++left_;
        changed_.notify_all();
    }
    bool is_idle() {
        std::lock_guard guard(turn_);
        return !left_;
    }
    void wait() {
        std::unique_lock guard(turn_);
        changed_.wait(guard, [this] { return !left_; });
    }
    // The stream goes when its work is done.
    void end() {
        std::lock_guard guard(turn_);
        is_ending_ = true;
        changed_.notify_all();
    }

    Context* const context;

   private:
    void work() {
        for (;;) {
            std::function<void()> task;
            {
                std::unique_lock guard(turn_);
                changed_.wait(guard, [this] { return !tasks_.empty() || is_ending_; });
                if (tasks_.empty()) break;
                task = std::move(tasks_.front());
                tasks_.pop_front();
            }
            task();
            std::lock_guard guard(turn_);
            --left_;
            changed_.notify_all();
        }
        delete this;
    }

    std::mutex turn_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    std::size_t left_ = 0;
    bool is_ending_ = false;
};

// The default stream of old programs, and the streams that take turns with it: all that were not made non-blocking.
struct Legacy {
    std::mutex turn;
    std::map<Context*, Stream*> defaults;
    std::set<Stream*> blocking;

    static Legacy& get() {
        static Legacy one;
        return one;
    }
    Stream* of(Context* context) {
        std::lock_guard guard(turn);
        auto& found = defaults[context];
        if (!found) found = new Stream(context);
        return found;
    }
};

inline bool is_default(Stream* handle) {
    return reinterpret_cast<Address>(handle) <= 2;
}

// A stream by its handle; 0, 1 and 2 are the current context's default stream, as old programs and as threads have it.
inline Stream* of(Stream* handle) {
    return is_default(handle) ? Legacy::get().of(stack.back()) : handle;
}

// A point behind all that a stream has so far.
inline std::shared_ptr<Point> mark(Stream* stream) {
    auto point = std::make_shared<Point>();
    stream->put([point] { point->reach(); });
    return point;
}

// Lets the default stream and a blocking one wait for each other.
inline void take_turns(Stream* handle) {
    auto& legacy = Legacy::get();
    std::vector<Stream*> others;
    {
        std::lock_guard guard(legacy.turn);
        if (is_default(handle))
            others.assign(legacy.blocking.begin(), legacy.blocking.end());
        else if (auto found = legacy.defaults.find(handle->context);
                 found != legacy.defaults.end() && legacy.blocking.count(handle))
            others.push_back(found->second);
    }
    for (Stream* other : others)
        if (!other->is_idle()) of(handle)->put([point = mark(other)] { point->wait(); });
}
