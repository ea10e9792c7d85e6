/* A driver and CUPTI in one library: launch() makes the call that CUPTI makes after a launch. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int site;
    const char *function;
    const void *params;
    void *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *correlation;
    uint32_t correlation_id;
} Data;
typedef void (*Callback)(void *, int, uint32_t, const void *);

static Callback subscriber;
static char enabled[4096];
int fake_gpu; /* exported, so that both libraries of this source share it */

int cuptiSubscribe(void **handle, Callback callback, void *data) {
    const char *refusal = getenv("FAKE_CUPTI_RESULT");
    (void)data;
    *handle = &subscriber;
    if (refusal) return atoi(refusal);
    subscriber = callback;
    return 0;
}

int cuptiEnableCallback(uint32_t enable, void *handle, int domain, uint32_t id) {
    (void)handle;
    if (domain != 1 || id >= sizeof enabled) return 1;
    enabled[id] = (char)enable;
    return 0;
}

int cuCtxGetDevice(int *device) {
    *device = fake_gpu;
    return 0;
}

/* GPU 0 has the UUID 00010203…0f, GPU 1 has 01010203…0f. */
int cuDeviceGetUuid(char *uuid, int device) {
    for (int i = 0; i < 16; i++) uuid[i] = (char)i;
    uuid[0] = (char)device;
    return 0;
}

/* Launch a kernel on a GPU: site 0 is before the driver's call, 1 after it. */
void launch(uint32_t id, int site, int result, const char *symbol, int device) {
    static char contexts[8];
    Data data = {site, "cuLaunch", NULL, &result, symbol, contexts + device, 1, NULL, 1};
    fake_gpu = device;
    if (subscriber && id < sizeof enabled && enabled[id]) subscriber(NULL, 1, id, &data);
}
