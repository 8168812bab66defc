// Thin C ABI over one Verilated model (class Vdut). The functions are reached through one exported table, everything
// else is hidden, so that any number of models, each with its own copy of Verilator's runtime, live in one process.
// One VerilatedContext an instance: instances share nothing and may live in different threads.
// glue.inc is generated: MRNIC_PORTS (the port table) and, for a clocked top, MRNIC_CLOCK (the clock's member name).
#include "verilated.h"
#include "Vdut.h"
#include "glue.inc"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#endif
#if VM_COVERAGE
#include "verilated_cov.h"
#endif
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace {

struct Instance {
    VerilatedContext* ctx = nullptr;
    Vdut* top = nullptr;
    uint64_t time_ps = 0;
    uint64_t half_period_ps = 2000;
    bool dump = false;
#if VM_TRACE_FST
    VerilatedFstC* fst = nullptr;
    uint64_t last_dump_ps = UINT64_MAX;
#endif
    std::string messages;
};

struct PortMem { void* ptr; uint32_t bytes; uint32_t is_input; };

// Contexts are few and messages are rare: a map keeps the run-time path free of book-keeping.
std::mutex g_mutex;
std::map<const VerilatedContext*, Instance*> g_instances;
constexpr size_t MAX_MESSAGE_BYTES = 65536;

inline void attach(Instance* v) {
    // Assertions and $display count on the thread's current context, not on the model's.
    Verilated::threadContextp(v->ctx);
}

inline void dump_now(Instance* v) {
#if VM_TRACE_FST
    if (v->time_ps == v->last_dump_ps) return;  // the file wants rising times
    v->fst->dump(v->time_ps);
    v->last_dump_ps = v->time_ps;
#else
    (void)v;
#endif
}

inline void set_clock(Instance* v, int level) {
#ifdef MRNIC_CLOCK
    v->top->MRNIC_CLOCK = level;
#else
    (void)v; (void)level;
#endif
}

inline void advance(Instance* v) {
    v->time_ps += v->half_period_ps;
    v->ctx->time(v->time_ps);
}

// While tracing, the inputs are shown at the falling edge before the rising edge that samples them.
inline void posedge(Instance* v) {
    if (__builtin_expect(v->dump, 0)) { v->top->eval(); dump_now(v); }
    advance(v);
    set_clock(v, 1);
    v->top->eval();
    if (__builtin_expect(v->dump, 0)) dump_now(v);
}

inline void negedge(Instance* v) {
    advance(v);
    set_clock(v, 0);
    v->top->eval();
}

void trace_close(Instance* v) {
#if VM_TRACE_FST
    if (v->fst) {
        dump_now(v);
        v->fst->close();
        delete v->fst;
        v->fst = nullptr;
    }
#endif
    v->dump = false;
}

// rand_reset: 0 zeros, 1 ones, 2 random
void* vs_new(const char* name, uint32_t rand_reset, uint32_t seed, uint64_t half_period_ps) {
    // Verilator up to 5.0xx re-seeds its generator when any context's seed changes: one construction at a time.
    static std::mutex construction;
    const std::lock_guard<std::mutex> one{construction};
    Instance* v = new Instance;
    v->ctx = new VerilatedContext;
    attach(v);
    v->half_period_ps = half_period_ps;
    v->ctx->threads(1);
    v->ctx->randReset(static_cast<int>(rand_reset));
    v->ctx->randSeed(static_cast<int>(seed));
    v->ctx->fatalOnError(false);
    v->ctx->errorLimit(0x7fffffff);
#if VM_TRACE
    v->ctx->traceEverOn(true);
#endif
    {
        const std::lock_guard<std::mutex> lock{g_mutex};
        g_instances[v->ctx] = v;
    }
    v->top = new Vdut{v->ctx, name};
    const PortMem ports[] = { MRNIC_PORTS };
    for (const PortMem& p : ports) if (p.is_input) memset(p.ptr, 0, p.bytes);
    v->top->eval();
    return v;
}

void vs_free(void* handle) {
    Instance* v = static_cast<Instance*>(handle);
    // Verilator 5.006's scope destructor locks the thread's current context, not the model's: a stale one deadlocks.
    attach(v);
    trace_close(v);
    v->top->final();
    delete v->top;
    Verilated::threadContextp(Verilated::defaultContextp());  // never leave a dangling one behind
    {
        const std::lock_guard<std::mutex> lock{g_mutex};
        g_instances.erase(v->ctx);
    }
    delete v->ctx;
    delete v;
}

uint32_t vs_ports(void* handle, PortMem* out, uint32_t capacity) {
    Instance* v = static_cast<Instance*>(handle);
    const PortMem ports[] = { MRNIC_PORTS };
    const uint32_t n = sizeof(ports) / sizeof(ports[0]);
    for (uint32_t i = 0; i < n && i < capacity; ++i) out[i] = ports[i];
    return n;
}

void vs_eval(void* handle) { Instance* v = static_cast<Instance*>(handle); attach(v); v->top->eval(); }
void vs_posedge(void* handle) { Instance* v = static_cast<Instance*>(handle); attach(v); posedge(v); }
void vs_negedge(void* handle) { Instance* v = static_cast<Instance*>(handle); attach(v); negedge(v); }
void vs_cycles(void* handle, uint64_t n) {
    Instance* v = static_cast<Instance*>(handle);
    attach(v);
    while (n--) { posedge(v); negedge(v); }
}
uint64_t vs_time_ps(void* handle) { return static_cast<Instance*>(handle)->time_ps; }
void vs_set_half_period_ps(void* handle, uint64_t ps) { static_cast<Instance*>(handle)->half_period_ps = ps; }
uint32_t vs_errors(void* handle) { return static_cast<uint32_t>(static_cast<Instance*>(handle)->ctx->errorCount()); }
uint32_t vs_finished(void* handle) { return static_cast<Instance*>(handle)->ctx->gotFinish(); }
const char* vs_messages(void* handle) { return static_cast<Instance*>(handle)->messages.c_str(); }

// 0: done, 1: built without tracing or the file could not be opened
uint32_t vs_trace_open(void* handle, const char* path) {
    Instance* v = static_cast<Instance*>(handle);
    attach(v);
    trace_close(v);
#if VM_TRACE_FST
    v->fst = new VerilatedFstC;
    v->last_dump_ps = UINT64_MAX;
    v->top->trace(v->fst, 99);
    v->fst->open(path);
    if (!v->fst->isOpen()) { delete v->fst; v->fst = nullptr; return 1; }
    v->dump = true;
    return 0;
#else
    (void)path;
    return 1;
#endif
}
void vs_trace_close(void* handle) { Instance* v = static_cast<Instance*>(handle); attach(v); trace_close(v); }
void vs_trace_pause(void* handle, uint32_t pause) {
    Instance* v = static_cast<Instance*>(handle);
#if VM_TRACE_FST
    v->dump = v->fst && !pause;
#else
    (void)v; (void)pause;
#endif
}
uint32_t vs_coverage_write(void* handle, const char* path) {
    Instance* v = static_cast<Instance*>(handle);
#if VM_COVERAGE
    attach(v);
    v->ctx->coveragep()->write(path);
    return 0;
#else
    (void)v; (void)path;
    return 1;
#endif
}

struct Api {
    uint32_t version;
    uint32_t features;  // 1: has a clock, 2: can trace
    void* (*create)(const char*, uint32_t, uint32_t, uint64_t);
    void (*free)(void*);
    uint32_t (*ports)(void*, PortMem*, uint32_t);
    void (*eval)(void*);
    void (*posedge)(void*);
    void (*negedge)(void*);
    void (*cycles)(void*, uint64_t);
    uint64_t (*time_ps)(void*);
    void (*set_half_period_ps)(void*, uint64_t);
    uint32_t (*errors)(void*);
    uint32_t (*finished)(void*);
    const char* (*messages)(void*);
    uint32_t (*trace_open)(void*, const char*);
    void (*trace_close)(void*);
    void (*trace_pause)(void*, uint32_t);
    uint32_t (*coverage_write)(void*, const char*);
};

}  // namespace

int mrnic_vl_printf(const char* format, ...) {
    char line[4096];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    const std::lock_guard<std::mutex> lock{g_mutex};
    const auto it = g_instances.find(Verilated::threadContextp());
    if (it == g_instances.end()) fputs(line, stderr);
    else if (it->second->messages.size() < MAX_MESSAGE_BYTES) it->second->messages += line;
    return n;
}

extern "C" __attribute__((visibility("default"))) const Api* mrnic_model_api() {
#ifdef MRNIC_CLOCK
    const uint32_t clocked = 1;
#else
    const uint32_t clocked = 0;
#endif
#if VM_TRACE_FST
    const uint32_t traced = 2;
#else
    const uint32_t traced = 0;
#endif
    static const Api api = {2, clocked | traced, vs_new, vs_free, vs_ports, vs_eval, vs_posedge, vs_negedge, vs_cycles, vs_time_ps,
                            vs_set_half_period_ps, vs_errors, vs_finished, vs_messages, vs_trace_open, vs_trace_close,
                            vs_trace_pause, vs_coverage_write};
    return &api;
}
