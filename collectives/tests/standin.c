// A library of NCCL's shape that does nothing but write down how it was called. P(name) is a function's name with its
// prefix, ID_BYTES the size of a unique id. Communicators are numbers from 1 on; a pointer is written as its distance
// from `base`.

#include <stdio.h>
#include <string.h>

static char record[1 << 16];
static size_t end;
static int status, async_status, communicators;
static const char* base;

#define WRITE(...) (end += (size_t)snprintf(record + end, sizeof record - end, __VA_ARGS__))
#define AT(pointer) ((pointer) ? (long)((const char*)(pointer) - base) : -1L)
#define COMM ((int)(long)comm)
#define STREAM ((unsigned long)stream)

typedef struct {
    char internal[ID_BYTES];
} UniqueId;

void standin_begin(const void* first) {
    base = first;
    end = 0;
    record[0] = 0;
    status = async_status = 0;
}
const char* standin_record(void) {
    return record;
}
void standin_fail(int call, int later) {
    status = call;
    async_status = later;
}

int P(GetUniqueId)(UniqueId* id) {
    memset(id->internal, 7, sizeof id->internal);
    return 0;
}
int P(CommInitRank)(void** comm, int ranks, UniqueId id, int rank) {
    *comm = (void*)(long)++communicators;
    WRITE("CommInitRank %d of %d, id %d %d\n", rank, ranks, id.internal[0], id.internal[ID_BYTES - 1]);
    return 0;
}
int P(CommDestroy)(void* comm) {
    return WRITE("CommDestroy %d\n", COMM), 0;
}
int P(CommAbort)(void* comm) {
    return WRITE("CommAbort %d\n", COMM), 0;
}
int P(CommGetAsyncError)(void* comm, int* error) {
    return *error = async_status, (void)comm, 0;
}
int P(CommSplit)(void* comm, int color, int key, void** made, void* config) {
    *made = (void*)(long)++communicators;
    WRITE("CommSplit %d color %d key %d%s\n", COMM, color, key, config ? " config" : "");
    return 0;
}
int P(CommShrink)(void* comm, int* excluded, int count, void** made, void* config, int flags) {
    *made = (void*)(long)++communicators;
    WRITE("CommShrink %d without", COMM);
    for (int i = 0; i < count; i++) WRITE(" %d", excluded[i]);
    WRITE(" flags %d%s\n", flags, config ? " config" : "");
    return 0;
}
const char* P(GetErrorString)(int result) {
    return result == 2 ? "unhandled system error" : "some error";
}
int P(GroupStart)(void) {
    return WRITE("GroupStart\n"), 0;
}
int P(GroupEnd)(void) {
    return WRITE("GroupEnd\n"), 0;
}

int P(AllReduce)(const void* x, void* out, size_t count, int type, int op, void* comm, void* stream) {
    WRITE("AllReduce %ld %ld x%zu type %d op %d on %d at %lx\n", AT(x), AT(out), count, type, op, COMM, STREAM);
    return status;
}
int P(Reduce)(const void* x, void* out, size_t count, int type, int op, int root, void* comm, void* stream) {
    WRITE("Reduce %ld %ld x%zu type %d op %d root %d on %d at %lx\n", AT(x), AT(out), count, type, op, root, COMM,
          STREAM);
    return status;
}
int P(ReduceScatter)(const void* x, void* out, size_t count, int type, int op, void* comm, void* stream) {
    WRITE("ReduceScatter %ld %ld x%zu type %d op %d on %d at %lx\n", AT(x), AT(out), count, type, op, COMM, STREAM);
    return status;
}
int P(AllGather)(const void* x, void* out, size_t count, int type, void* comm, void* stream) {
    WRITE("AllGather %ld %ld x%zu type %d on %d at %lx\n", AT(x), AT(out), count, type, COMM, STREAM);
    return status;
}
int P(Broadcast)(const void* x, void* out, size_t count, int type, int root, void* comm, void* stream) {
    WRITE("Broadcast %ld %ld x%zu type %d root %d on %d at %lx\n", AT(x), AT(out), count, type, root, COMM, STREAM);
    return status;
}
int P(Send)(const void* x, size_t count, int type, int peer, void* comm, void* stream) {
    WRITE("Send %ld x%zu type %d to %d on %d at %lx\n", AT(x), count, type, peer, COMM, STREAM);
    return status;
}
int P(Recv)(void* out, size_t count, int type, int peer, void* comm, void* stream) {
    WRITE("Recv %ld x%zu type %d from %d on %d at %lx\n", AT(out), count, type, peer, COMM, STREAM);
    return status;
}
