/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * See fake_hip.h. */
#include "fake_hip.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

API FakeHip fake_hip;

enum { MOST = 256, OFFSET_OF_TARGET = 1160 };

/* What was made and not freed: its kind is the first letter of what makes it. */
static struct {
    char kind;
    char *at;
    size_t bytes;
} things[MOST];

static _Thread_local int device = -1;

static int call(const char *name)
{
    int fails = fake_hip.total++ == fake_hip.fails_total;
    if (fake_hip.fails && !strcmp(fake_hip.fails, name))
        fails |= fake_hip.calls++ >= fake_hip.at;
    return fails ? fake_hip.status : 0;
}

/* Calls for which a device must have been set by the same thread. */
static int device_call(const char *name)
{
    fake_hip.bad += device < 0;
    return call(name);
}

static int make(char kind, void **out, size_t bytes)
{
    int i = 0;
    while (things[i].at)
        i++;
    things[i].kind = kind;
    things[i].bytes = bytes;
    *out = things[i].at = memset(malloc(bytes), 0xa5, bytes);
    fake_hip.live++;
    return 0;
}

static int find(char kind, const void *at, size_t bytes)
{
    for (int i = 0; i < MOST; i++)
        if (things[i].at && things[i].kind == kind && (const char *)at >= things[i].at &&
            (const char *)at + bytes <= things[i].at + things[i].bytes)
            return i;
    fake_hip.bad++;
    return -1;
}

static int unmake(char kind, void *at)
{
    int i = find(kind, at, 1);
    if (i < 0 || things[i].at != at) {
        fake_hip.bad++;
        return 1;
    }
    free(things[i].at);
    things[i].at = NULL;
    fake_hip.live--;
    return 0;
}

API int hipInit(unsigned flags);
API int hipInit(unsigned flags)
{
    return call("hipInit");
}

API int hipGetDeviceCount(int *count);
API int hipGetDeviceCount(int *count)
{
    *count = fake_hip.devices;
    return call("hipGetDeviceCount");
}

API int hipSetDevice(int which);
API int hipSetDevice(int which)
{
    device = which;
    return call("hipSetDevice");
}

API int hipDeviceGetName(char *name, int size, int which);
API int hipDeviceGetName(char *name, int size, int which)
{
    strncpy(name, which ? "Second GPU" : "First GPU", size);
    return call("hipDeviceGetName");
}

API int hipGetDevicePropertiesR0600(char *properties, int which);
API int hipGetDevicePropertiesR0600(char *properties, int which)
{
    strcpy(properties + OFFSET_OF_TARGET, fake_hip.target);
    return call("hipGetDevicePropertiesR0600");
}

API const char *hipGetErrorString(int status);
API const char *hipGetErrorString(int status)
{
    return "so it was told";
}

API int hipMalloc(void **out, size_t bytes);
API int hipMalloc(void **out, size_t bytes)
{
    int status = device_call("hipMalloc");
    return status ? status : make('m', out, bytes);
}

API int hipFree(void *memory);
API int hipFree(void *memory)
{
    int status = device_call("hipFree");
    return unmake('m', memory) | status;
}

API int hipHostMalloc(void **out, size_t bytes, unsigned flags);
API int hipHostMalloc(void **out, size_t bytes, unsigned flags)
{
    int status = device_call("hipHostMalloc");
    return status ? status : make('h', out, bytes);
}

API int hipHostFree(void *memory);
API int hipHostFree(void *memory)
{
    int status = device_call("hipHostFree");
    return unmake('h', memory) | status;
}

API int hipStreamCreateWithFlags(void **out, unsigned flags);
API int hipStreamCreateWithFlags(void **out, unsigned flags)
{
    int status = device_call("hipStreamCreateWithFlags");
    return status ? status : make('s', out, 1);
}

API int hipStreamDestroy(void *stream);
API int hipStreamDestroy(void *stream)
{
    int status = device_call("hipStreamDestroy");
    return unmake('s', stream) | status;
}

API int hipStreamSynchronize(void *stream);
API int hipStreamSynchronize(void *stream)
{
    find('s', stream, 1);
    return device_call("hipStreamSynchronize");
}

API int hipStreamWaitEvent(void *stream, void *event, unsigned flags);
API int hipStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    find('s', stream, 1);
    find('e', event, 1);
    return device_call("hipStreamWaitEvent");
}

API int hipEventCreateWithFlags(void **out, unsigned flags);
API int hipEventCreateWithFlags(void **out, unsigned flags)
{
    int status = device_call("hipEventCreateWithFlags");
    return status ? status : make('e', out, 1);
}

API int hipEventDestroy(void *event);
API int hipEventDestroy(void *event)
{
    int status = device_call("hipEventDestroy");
    return unmake('e', event) | status;
}

API int hipEventRecord(void *event, void *stream);
API int hipEventRecord(void *event, void *stream)
{
    find('s', stream, 1);
    find('e', event, 1);
    return device_call("hipEventRecord");
}

API int hipEventQuery(void *event);
API int hipEventQuery(void *event)
{
    find('e', event, 1);
    return device_call("hipEventQuery");
}

API int hipEventSynchronize(void *event);
API int hipEventSynchronize(void *event)
{
    find('e', event, 1);
    return device_call("hipEventSynchronize");
}

API int hipMemcpyHtoDAsync(void *to, void *from, size_t bytes, void *stream);
API int hipMemcpyHtoDAsync(void *to, void *from, size_t bytes, void *stream)
{
    int status = device_call("hipMemcpyHtoDAsync");
    if (!status && find('m', to, bytes) >= 0)
        memcpy(to, from, bytes);
    fake_hip.uploads++;
    return status;
}

API int hipMemcpy2DAsync(char *to, size_t to_pitch, const char *from, size_t from_pitch,
                         size_t row_bytes, size_t rows, int kind, void *stream);
API int hipMemcpy2DAsync(char *to, size_t to_pitch, const char *from, size_t from_pitch,
                         size_t row_bytes, size_t rows, int kind, void *stream)
{
    int status = device_call("hipMemcpy2DAsync");
    fake_hip.bad += kind != 1;
    if (!status && find('m', to, (rows - 1) * to_pitch + row_bytes) >= 0)
        for (size_t y = 0; y < rows; y++)
            memcpy(to + y * to_pitch, from + y * from_pitch, row_bytes);
    fake_hip.uploads_2d++;
    return status;
}

API int hipMemcpyDtoHAsync(void *to, void *from, size_t bytes, void *stream);
API int hipMemcpyDtoHAsync(void *to, void *from, size_t bytes, void *stream)
{
    int status = device_call("hipMemcpyDtoHAsync");
    if (!status && find('m', from, bytes) >= 0)
        memcpy(to, from, bytes);
    return status;
}

API int hipMemsetAsync(void *to, int value, size_t bytes, void *stream);
API int hipMemsetAsync(void *to, int value, size_t bytes, void *stream)
{
    int status = device_call("hipMemsetAsync");
    if (!status && find('m', to, bytes) >= 0)
        memset(to, value, bytes);
    return status;
}

API int hipModuleLoadData(void **out, const void *code);
API int hipModuleLoadData(void **out, const void *code)
{
    int status = device_call("hipModuleLoadData");
    return status ? status : make('c', out, 1);
}

API int hipModuleUnload(void *module);
API int hipModuleUnload(void *module)
{
    int status = device_call("hipModuleUnload");
    return unmake('c', module) | status;
}

API int hipModuleGetFunction(void **out, void *module, const char *name);
API int hipModuleGetFunction(void **out, void *module, const char *name)
{
    find('c', module, 1);
    *out = module;
    return device_call("hipModuleGetFunction");
}

API int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, void *stream, void **arguments, void **extra);
API int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, void *stream, void **arguments, void **extra)
{
    const unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
    uint32_t second;
    memcpy(fake_hip.grid, grid, sizeof grid);
    memcpy(fake_hip.block, block, sizeof block);
    memcpy(&fake_hip.arguments[0], arguments[0], 8);
    memcpy(&second, arguments[1], 4);
    fake_hip.arguments[1] = second;
    memcpy(&fake_hip.arguments[2], arguments[2], 8);
    return device_call("hipModuleLaunchKernel");
}
