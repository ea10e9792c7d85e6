/* Counts the kernels that a process launches on NVIDIA GPUs.
 *
 * The CUDA driver loads this library into a process (CUDA_INJECTION64_PATH) when the process
 * initialises CUDA. CUPTI then calls count() after each launch. The counts are in a file that the
 * process maps, named "$REB_LAUNCHES.<pid>", so a killed process leaves them behind.
 * reb_action/probe/launches.py reads the file; the layout is the same there.
 *
 * It links against nothing: the symbols of libc come from the process, so one build serves every
 * glibc. CUPTI comes from the process as well, because it has to fit the process's CUDA.
 */

#define _GNU_SOURCE
#include <cupti.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROWS = 511, ROWS_FOR_ALL = 384, NAME = 100, CONTEXTS = 64, PATH_BYTES = 4096 };
enum { LOADING = 0, COUNTING = 1, NO_CUPTI = -1, CUPTI_REFUSES = -2 };

struct row { /* the launches of one kernel on one GPU */
    uint8_t uuid[16];
    atomic_uint_fast64_t launches;
    atomic_uint ready;
    char name[NAME];
};

struct table {
    char magic[8];
    uint32_t pid;
    int32_t status;
    int32_t cupti_result;
    uint32_t reserved;
    atomic_uint_fast64_t kernels;
    atomic_uint_fast64_t graphs;
    atomic_uint_fast64_t unnamed; /* launches for which the table had no room */
    uint8_t padding[80];
    struct row rows[ROWS];
};

_Static_assert(sizeof(struct row) == 128 && sizeof(struct table) == 65536, "launches.py reads it");

static struct table *table;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static struct { CUcontext context; uint8_t uuid[16]; } contexts[CONTEXTS];
static atomic_uint known_contexts;
static CUresult (*device_of)(CUdevice *);
static CUresult (*uuid_of)(CUuuid *, CUdevice);

/* A program that is statically linked or cleans its environment is not counted. */
static struct table *open_table(void) {
    char path[PATH_BYTES], digits[16];
    const char *prefix = getenv("REB_LAUNCHES");
    size_t used = prefix ? strlen(prefix) : 0, count = 0;
    if (!used || used + sizeof digits + 2 > sizeof path) return NULL;
    memcpy(path, prefix, used);
    path[used++] = '.';
    for (unsigned pid = (unsigned)getpid(); pid; pid /= 10) digits[count++] = '0' + pid % 10;
    while (count) path[used++] = digits[--count];
    path[used] = 0;
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return NULL;
    struct table *map = MAP_FAILED;
    if (!ftruncate(file, sizeof *map))
        map = mmap(NULL, sizeof *map, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (map == MAP_FAILED) return NULL;
    memcpy(map->magic, "REBLNCH1", 8);
    map->pid = (uint32_t)getpid();
    return map;
}

/* A forked child has the parent's map and counts in a file of its own. */
static struct table *own_table(void) {
    if (table && table->pid == (uint32_t)getpid()) return table;
    while (atomic_flag_test_and_set(&lock)) {}
    if (!table || table->pid != (uint32_t)getpid()) {
        table = open_table();
        if (table) table->status = COUNTING;
    }
    atomic_flag_clear(&lock);
    return table;
}

/* Give the GPU of the context that launches. A context handle that is used again for another GPU
 * keeps the first GPU's UUID; no framework destroys its contexts while it runs. */
static const uint8_t *gpu_of(CUcontext context) {
    static const uint8_t unknown[16];
    unsigned known = atomic_load(&known_contexts);
    for (unsigned i = 0; i < known; i++)
        if (contexts[i].context == context) return contexts[i].uuid;
    CUdevice device;
    CUuuid uuid;
    if (!device_of || !uuid_of || device_of(&device) || uuid_of(&uuid, device)) return unknown;
    while (atomic_flag_test_and_set(&lock)) {}
    known = atomic_load(&known_contexts);
    const uint8_t *found = unknown;
    if (known < CONTEXTS) {
        contexts[known].context = context;
        memcpy(contexts[known].uuid, uuid.bytes, 16);
        found = contexts[known].uuid;
        atomic_store(&known_contexts, known + 1);
    }
    atomic_flag_clear(&lock);
    return found;
}

static int is_row(const struct row *row, const uint8_t *uuid, const char *name, size_t length) {
    return !memcmp(row->uuid, uuid, 16) && !memcmp(row->name, name, length) && !row->name[length];
}

/* Give the row of a kernel on a GPU, or NULL where the table is full. Rows at the end are kept for
 * collectives, which a program with many kernels may launch late. */
static struct row *row_of(struct table *into, const uint8_t *uuid, const char *name) {
    size_t length = strnlen(name, NAME - 1);
    unsigned limit = strstr(name, "nccl") ? ROWS : ROWS_FOR_ALL, hash = 2166136261u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)name[i]) * 16777619u;
    hash ^= uuid[0] | uuid[1] << 8;
    for (unsigned step = 0; step < limit; step++) {
        struct row *row = &into->rows[(hash + step) % limit];
        if (!atomic_load_explicit(&row->ready, memory_order_acquire)) {
            while (atomic_flag_test_and_set(&lock)) {}
            if (!row->ready) {
                memcpy(row->uuid, uuid, 16);
                memcpy(row->name, name, length);
                atomic_store_explicit(&row->ready, 1, memory_order_release);
            }
            atomic_flag_clear(&lock);
        }
        if (is_row(row, uuid, name, length)) return row;
    }
    return NULL;
}

static void CUPTIAPI count(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                           const void *data) {
    const CUpti_CallbackData *call = data;
    const CUresult *result = call->functionReturnValue;
    (void)unused, (void)domain;
    /* A launch that the driver refuses, such as one without code for this GPU, is no launch. */
    if (call->callbackSite != CUPTI_API_EXIT || !result || *result != CUDA_SUCCESS) return;
    struct table *into = own_table();
    if (!into) return;
    int graph = id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch
                || id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
    atomic_fetch_add(graph ? &into->graphs : &into->kernels, 1);
    const char *name = graph ? "(graph)" : call->symbolName ? call->symbolName : "(no name)";
    struct row *row = row_of(into, gpu_of(call->context), name);
    atomic_fetch_add(row ? &row->launches : &into->unnamed, 1);
}

static const char *const LIBRARIES[] = {
    "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so.11.7",
    "libcupti.so.11.6", "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
};
static const char *const IN_PACKAGES[] = {
    "nvidia/cu13/lib/libcupti.so.13", "nvidia/cuda_cupti/lib/libcupti.so.12",
};

static void *first(const char *const *names, size_t count, int flags) {
    for (size_t i = 0; i < count; i++) {
        void *library = dlopen(names[i], RTLD_LAZY | flags);
        if (library) return library;
    }
    return NULL;
}

/* JAX loads CUPTI after CUDA, from a package beside its own. */
static int look_beside(struct dl_phdr_info *object, size_t size, void *found) {
    static const char folder[] = "/site-packages/";
    const char *at = object->dlpi_name ? strstr(object->dlpi_name, folder) : NULL;
    (void)size;
    for (size_t i = 0; at && i < sizeof IN_PACKAGES / sizeof *IN_PACKAGES; i++) {
        char path[PATH_BYTES];
        size_t start = (size_t)(at - object->dlpi_name) + sizeof folder - 1;
        size_t rest = strlen(IN_PACKAGES[i]) + 1;
        if (start + rest > sizeof path) continue;
        memcpy(path, object->dlpi_name, start);
        memcpy(path + start, IN_PACKAGES[i], rest);
        *(void **)found = dlopen(path, RTLD_LAZY);
        if (*(void **)found) return 1;
    }
    return 0;
}

/* A library that the process has already is the one that fits; then one that it could have. */
static void *find_cupti(void) {
    size_t number = sizeof LIBRARIES / sizeof *LIBRARIES;
    void *library = first(LIBRARIES, number, RTLD_NOLOAD);
    if (!library) dl_iterate_phdr(look_beside, &library);
    return library ? library : first(LIBRARIES, number, 0);
}

static const CUpti_CallbackId LAUNCHES[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchGrid,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchGridAsync,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

static int subscribe(void *cupti) {
    CUptiResult (*ask)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *);
    CUptiResult (*enable)(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId);
    CUpti_SubscriberHandle handle;
    ask = dlsym(cupti, "cuptiSubscribe");
    enable = dlsym(cupti, "cuptiEnableCallback");
    if (!ask || !enable) return CUPTI_ERROR_NOT_SUPPORTED;
    CUptiResult result = ask(&handle, count, NULL);
    /* A driver call that this CUPTI does not know yet is refused; it cannot be made either. */
    for (size_t i = 0; !result && i < sizeof LAUNCHES / sizeof *LAUNCHES; i++)
        enable(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, LAUNCHES[i]);
    return result;
}

/* The driver calls this by name. It must succeed, or CUDA itself fails. */
__attribute__((visibility("default"))) int InitializeInjection(void) {
    table = open_table();
    if (!table) return 1;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), *cupti = find_cupti();
    device_of = driver ? dlsym(driver, "cuCtxGetDevice") : NULL;
    uuid_of = driver ? dlsym(driver, "cuDeviceGetUuid") : NULL;
    if (cupti) table->cupti_result = subscribe(cupti);
    table->status = !cupti ? NO_CUPTI : table->cupti_result ? CUPTI_REFUSES : COUNTING;
    return 1;
}
