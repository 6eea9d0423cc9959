// Work for streams, and graphs of it: what a capture records, or a program builds, to be launched as a whole.

#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "driver/module.h"
#include "driver/stream.h"

// Does something on a stream's thread; the code of a fault, if there was one.
using Work = std::function<int(Context*)>;

// One piece of work. Its kind is CUgraphNodeType of cuda.h.
struct Node {
    enum Kind { KERNEL = 0, COPY = 1, SET = 2, HOST = 3, CHILD = 4, EMPTY = 5, WAIT_EVENT = 6, RECORD_EVENT = 7 };
    Kind kind = EMPTY;
    Work work;
    std::vector<Node*> after;  // what has to be done before
    std::shared_ptr<KernelPlan> plan;
    const Node* origin = nullptr;  // the graph's own, of a node that is launched
};

struct Graph {
    std::vector<std::shared_ptr<Node>> nodes;  // each behind all that it comes after
};

// What streams record together: the one that began, and those that waited for its events.
struct Capture {
    enum Mode { GLOBAL = 0, THREAD_LOCAL = 1, RELAXED = 2 };
    Capture(Stream* origin, int mode);
    ~Capture();
    Capture(const Capture&) = delete;
    void end();  // events may keep it

    Stream* origin;
    const int mode;  // which threads may not call what may be unsafe meanwhile: all, the one that began it, or none
    const std::thread::id thread = std::this_thread::get_id();
    std::shared_ptr<Graph> graph = std::make_shared<Graph>();
    std::map<Stream*, std::vector<Node*>> ends;  // of each stream, what its next node comes after
    bool is_invalid = false;
};

// Puts work into a stream, or into the graph that it records.
int enqueue(Stream* handle, Node::Kind kind, Work work, std::shared_ptr<KernelPlan> plan = nullptr);
int captured(Stream* stream, std::shared_ptr<Node> node);
// For calls that wait for a stream, which may not be recorded.
int refuse_capture(Stream* stream);
// For calls that may be unsafe while this thread or another one records: they end the records that forbid them.
int refuse_unsafe();
// The first fault of a context stays.
void broken_by(Context* context, int code);
