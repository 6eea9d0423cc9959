#include "driver/graph.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "driver/library.h"
#include "driver/pitched.h"
#include "machine/heap.h"

int captured(Stream* stream, std::shared_ptr<Node> node) {
    auto& capture = *stream->capture;
    if (!node) {
        capture.is_invalid = true;
        return STREAM_CAPTURE_UNSUPPORTED;
    }
    if (capture.is_invalid) return STREAM_CAPTURE_INVALIDATED;
    node->after = capture.ends[stream];
    capture.ends[stream] = {node.get()};
    capture.graph->nodes.push_back(std::move(node));
    return SUCCESS;
}

int refuse_capture(Stream* stream) {
    if (!stream->capture) return SUCCESS;
    stream->capture->is_invalid = true;
    return STREAM_CAPTURE_UNSUPPORTED;
}

static std::mutex turn;
static std::unordered_set<Capture*> captures;  // all that go on
static thread_local int mode_of_thread = Capture::GLOBAL;

Capture::Capture(Stream* origin, int mode) : origin(origin), mode(mode) {
    std::lock_guard guard(turn);
    captures.insert(this);
}

Capture::~Capture() {
    end();
}

void Capture::end() {
    std::lock_guard guard(turn);
    captures.erase(this);
}

int refuse_unsafe() {
    int code = SUCCESS;
    std::lock_guard guard(turn);
    for (auto* each : captures) {
        bool is_own = each->thread == std::this_thread::get_id() && each->mode != Capture::RELAXED;
        bool is_for_all = mode_of_thread == Capture::GLOBAL && each->mode == Capture::GLOBAL;
        if (mode_of_thread == Capture::RELAXED || !(is_own || is_for_all)) continue;
        each->is_invalid = true;
        code = STREAM_CAPTURE_UNSUPPORTED;
    }
    return code;
}

namespace {

// A graph as it is launched: its nodes in an order that keeps what has to be before.
struct Executable {
    std::mutex turn;
    std::vector<std::shared_ptr<Node>> nodes;
};

std::vector<std::shared_ptr<Node>> ordered(const Graph& graph) {
    std::vector<std::shared_ptr<Node>> result;
    std::set<Node*> done;
    while (result.size() < graph.nodes.size()) {
        std::size_t before = result.size();
        for (auto& node : graph.nodes)
            if (!done.count(node.get()) &&
                std::all_of(node->after.begin(), node->after.end(), [&](Node* other) { return done.count(other); })) {
                done.insert(node.get());
                result.push_back(std::make_shared<Node>(*node));
                result.back()->origin = node.get();
            }
        if (result.size() == before) return {};  // it goes round in a circle
    }
    return result;
}

int add(Node** result, Graph* graph, Node* const* after, std::size_t count, std::shared_ptr<Node> node) {
    if (!graph) return INVALID_HANDLE;
    node->after.assign(after, after + count);
    graph->nodes.push_back(node);
    *result = node.get();
    return SUCCESS;
}

// CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h.
struct KernelParameters {
    Function* function;
    unsigned gx, gy, gz, bx, by, bz, shared;
    void** parameters;
    void** extra;
    void* kernel;
    Context* context;
};

// Where there is no function, the kernel of a library is one in the given context, or the current one.
int planned(const KernelParameters& given, std::shared_ptr<Node>& node) {
    Function* function = given.function;
    if (!function && given.kernel) {
        CURRENT(context);
        function = static_cast<Function*>(given.kernel);
        if (int code = function_of(function, given.context ? given.context : context)) return code;
    }
    if (!function) return INVALID_VALUE;
    auto plan = std::make_shared<KernelPlan>(
        KernelPlan{function, {given.gx, given.gy, given.gz}, {given.bx, given.by, given.bz}, given.shared, {}});
    if (int code = function->prepare(0)) return code;
    if (int code = take_parameters(*plan, given.parameters, given.extra)) return code;
    node->kind = Node::KERNEL;
    node->plan = plan;
    node->work = [plan](Context* context) { return run(context, *plan); };
    return SUCCESS;
}

}  // namespace

extern "C" {

int cuStreamBeginCapture_v2(Stream* handle, int mode) {
    CURRENT(context);
    Stream* stream = stream_of(handle, context);
    if (!stream) return INVALID_HANDLE;
    if (is_default(handle)) return STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture) return ILLEGAL_STATE;
    stream->capture = std::make_shared<Capture>(stream, mode);
    return SUCCESS;
}
int cuStreamEndCapture(Stream* handle, Graph** result) {
    CURRENT(context);
    Stream* stream = stream_of(handle, context);
    if (!stream || !stream->capture || stream->capture->origin != stream) return ILLEGAL_STATE;
    auto capture = stream->capture;
    capture->end();
    bool is_joined = true;
    std::set<Node*> reached(capture->ends[stream].begin(), capture->ends[stream].end());
    for (std::size_t before = 0; before != reached.size();) {
        before = reached.size();
        for (auto* node : std::vector<Node*>(reached.begin(), reached.end()))
            reached.insert(node->after.begin(), node->after.end());
    }
    for (auto& [other, ends] : capture->ends) {
        for (auto* end : ends) is_joined &= reached.count(end) > 0;
        other->capture = nullptr;
    }
    stream->capture = nullptr;
    *result = nullptr;
    if (capture->is_invalid) return STREAM_CAPTURE_INVALIDATED;
    if (!is_joined) return STREAM_CAPTURE_UNJOINED;
    *result = new Graph(*capture->graph);
    return SUCCESS;
}
int cuStreamIsCapturing(Stream* handle, int* status) {
    CURRENT(context);
    Stream* stream = stream_of(handle, context);
    if (!stream) return INVALID_HANDLE;
    *status = !stream->capture ? 0 : stream->capture->is_invalid ? 2 : 1;
    return SUCCESS;
}

int cuThreadExchangeStreamCaptureMode(int* mode) {
    if (!mode || *mode < Capture::GLOBAL || *mode > Capture::RELAXED) return INVALID_VALUE;
    std::swap(*mode, mode_of_thread);
    return SUCCESS;
}

int cuGraphCreate(Graph** graph, unsigned) {
    *graph = new Graph;
    return SUCCESS;
}
int cuGraphDestroy(Graph* graph) {
    delete graph;
    return SUCCESS;
}
int cuGraphAddKernelNode_v2(Node** node, Graph* graph, Node* const* after, std::size_t count,
                            const KernelParameters* given) {
    auto made = std::make_shared<Node>();
    if (int code = planned(*given, made)) return code;
    return add(node, graph, after, count, made);
}
int cuGraphAddEmptyNode(Node** node, Graph* graph, Node* const* after, std::size_t count) {
    auto made = std::make_shared<Node>();
    made->work = [](Context*) { return SUCCESS; };
    return add(node, graph, after, count, made);
}
struct HostParameters {
    void (*function)(void*);
    void* data;
};
int cuGraphAddHostNode(Node** node, Graph* graph, Node* const* after, std::size_t count, const HostParameters* given) {
    auto made = std::make_shared<Node>();
    made->kind = Node::HOST;
    made->work = [given = *given](Context*) {
        given.function(given.data);
        return SUCCESS;
    };
    return add(node, graph, after, count, made);
}
int cuGraphAddMemcpyNode(Node** node, Graph* graph, Node* const* after, std::size_t count, const Copy3D* given,
                         Context*) {
    auto made = std::make_shared<Node>();
    made->kind = Node::COPY;
    if (int code = copying(*given, made->work)) return code;
    return add(node, graph, after, count, made);
}
// CUDA_MEMSET_NODE_PARAMS of cuda.h.
struct FillParameters {
    Address place;
    std::size_t pitch;
    unsigned value, element;
    std::size_t width, height;
};
int cuGraphAddMemsetNode(Node** node, Graph* graph, Node* const* after, std::size_t count, const FillParameters* given,
                         Context*) {
    std::size_t row = given->width * given->element;
    if (!row || !given->height || !Heap::get().holds(given->place, given->pitch * (given->height - 1) + row))
        return INVALID_VALUE;
    auto made = std::make_shared<Node>();
    made->kind = Node::SET;
    made->work = [given = *given, row](Context*) {
        for (std::size_t line = 0; line < given.height; ++line) {
            Address start = given.place + line * given.pitch;
            for (std::size_t at = 0; at < row; at += given.element)
                std::memcpy(bytes_at(start + at), &given.value, given.element);
            Heap::mark_written(start, row);
        }
        return SUCCESS;
    };
    return add(node, graph, after, count, made);
}
int cuGraphAddChildGraphNode(Node** node, Graph* graph, Node* const* after, std::size_t count, Graph* child) {
    if (!child) return INVALID_HANDLE;
    auto made = std::make_shared<Node>();
    made->kind = Node::CHILD;
    made->work = [nodes = ordered(*child)](Context* context) {
        for (auto& each : nodes)
            if (int code = each->work(context)) return code;
        return static_cast<int>(SUCCESS);
    };
    return add(node, graph, after, count, made);
}
int cuGraphExecKernelNodeSetParams_v2(Executable* graph, Node* node, const KernelParameters* given) {
    if (!graph || !given) return INVALID_HANDLE;
    std::lock_guard guard(graph->turn);
    for (auto& each : graph->nodes) {
        if (each->origin != node || each->kind != Node::KERNEL) continue;
        auto made = std::make_shared<Node>(*each);
        if (int code = planned(*given, made)) return code;
        each = made;
        return SUCCESS;
    }
    return INVALID_VALUE;
}
int cuGraphAddDependencies(Graph*, Node* const* before, Node* const* after, std::size_t count) {
    for (std::size_t number = 0; number < count; ++number) after[number]->after.push_back(before[number]);
    return SUCCESS;
}
int cuGraphGetNodes(Graph* graph, Node** nodes, std::size_t* count) {
    if (!graph) return INVALID_HANDLE;
    if (nodes)
        for (std::size_t number = 0; number < std::min(*count, graph->nodes.size()); ++number)
            nodes[number] = graph->nodes[number].get();
    *count = graph->nodes.size();
    return SUCCESS;
}
int cuGraphNodeGetType(Node* node, int* kind) {
    *kind = node->kind;
    return SUCCESS;
}
int cuGraphInstantiateWithFlags(Executable** result, Graph* graph, unsigned long long) {
    CURRENT(context);
    if (!graph) return INVALID_HANDLE;
    if (int code = refuse_unsafe()) return code;
    auto made = new Executable;
    made->nodes = ordered(*graph);
    *result = made;
    return made->nodes.size() == graph->nodes.size() ? SUCCESS : INVALID_VALUE;
}
// Launches that are under way hold the nodes.
int cuGraphExecDestroy(Executable* graph) {
    if (!graph) return INVALID_HANDLE;
    if (int code = refuse_unsafe()) return code;
    delete graph;
    return SUCCESS;
}
int cuGraphLaunch(Executable* graph, Stream* handle) {
    CURRENT(context);
    if (!graph) return INVALID_HANDLE;
    Stream* stream = stream_of(handle, context);
    if (!stream) return INVALID_HANDLE;
    if (int code = refuse_capture(stream)) return code;  // a graph that is recorded takes no launch of another
    std::lock_guard guard(graph->turn);
    return enqueue(handle, Node::CHILD, [nodes = graph->nodes](Context* context) {
        for (auto& node : nodes)
            if (int code = node->work(context)) return code;
        return static_cast<int>(SUCCESS);
    });
}
int cuGraphUpload(Executable*, Stream*) {
    return SUCCESS;
}
// The launch's nodes are replaced, so that launches that are under way keep the old ones.
int cuGraphExecUpdate_v2(Executable* graph, Graph* changed, void* info) {
    if (!graph || !changed) return INVALID_HANDLE;
    auto nodes = ordered(*changed);
    std::lock_guard guard(graph->turn);
    bool is_same =
        nodes.size() == graph->nodes.size() && std::equal(nodes.begin(), nodes.end(), graph->nodes.begin(),
                                                          [](auto& a, auto& b) { return a->kind == b->kind; });
    if (info) *static_cast<int*>(info) = is_same ? 0 : 2;  // CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
    if (!is_same) return 910;                              // CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
    graph->nodes = nodes;
    return SUCCESS;
}
}
