/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The runtime's functions as a table, loaded at run time. Only what kept its number and layout from
 * HIP 5 to 7 is here; NVIDIA's driver is made to look alike. Return values are hipError_t or
 * CUresult, 0 for success. */
#ifndef HV_RUNTIME_H
#define HV_RUNTIME_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

/* What has the same number in both: no GPU at all, and no driver to ask; code for another one; work
 * that still runs. */
enum {
    HV_STATUS_NO_DEVICE = 100,
    HV_STATUS_BAD_DEVICE = 101,
    HV_STATUS_NO_BINARY = 209,
    HV_STATUS_NOT_READY = 600
};

typedef struct HvRuntime {
    const char *platform; /* "amd" or "nvidia" */

    int (*init)(unsigned flags);
    int (*device_count)(int *count);
    int (*device_name)(char *name, int size, int device);
    int (*set_device)(int device); /* for the calling thread */
    /* Around all use of a device. */
    int (*open_device)(int device);
    void (*close_device)(int device);
    /* Its target's name, at most `size` bytes with the NUL. */
    int (*target)(const struct HvRuntime *runtime, char *name, size_t size, int device);
    const char *(*error_string)(int status); /* never NULL */

    int (*malloc)(void **out, size_t bytes);
    int (*free)(void *memory);
    int (*host_malloc)(void **out, size_t bytes, unsigned flags);
    int (*host_free)(void *memory);

    int (*stream_create)(void **out, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*stream_synchronize)(void *stream);
    int (*stream_wait_event)(void *stream, void *event, unsigned flags);
    int (*event_create)(void **out, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event); /* HV_STATUS_NOT_READY while it is to come */
    int (*event_synchronize)(void *event);

    int (*upload)(void *to, void *from, size_t bytes, void *stream);
    int (*upload_2d)(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                     size_t row_bytes, size_t rows, int kind, void *stream);
    int (*download)(void *to, void *from, size_t bytes, void *stream);
    int (*fill)(void *to, int byte, size_t bytes, void *stream);

    /* `log` gets what the driver's compiler has to say, if anything. */
    int (*module_load)(const struct HvRuntime *runtime, void **out, const void *code, char *log,
                       size_t log_size);
    int (*module_unload)(void *module);
    int (*module_function)(void **out, void *module, const char *name);
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                  void *stream, void **arguments, void **extra);

    /* NULL, all of them, where the runtime has no graphs, or is to be used without. */
    int (*capture_begin)(void *stream, int mode);
    int (*capture_end)(void *stream, void **graph);
    int (*graph_nodes)(void *graph, void **nodes, size_t *n);
    int (*graph_instantiate)(void **out, void *graph, unsigned long long flags);
    int (*graph_destroy)(void *graph);
    int (*graph_launch)(void *instance, void *stream);
    int (*instance_destroy)(void *instance);

    /* Of HIP alone. */
    int (*properties)(void *properties, int device);
    size_t target_offset; /* of the target's name inside them */
    int (*load_data)(void **out, const void *code);
} HvRuntime;

/* The names to try, NULL-terminated: HIPVMAF_RUNTIME alone where it is set. The caller frees it. */
char **hv_runtime_candidates(void);

/* Loads one library, for good: runtimes do not bear to be unloaded. FALSE, and in `why` the reason
 * (the caller frees it), where it is not there or lacks a function. */
gboolean hv_runtime_load(HvRuntime *runtime, const char *library, char **why);

/* What the runtime calls the function at this offset of HvRuntime, for messages. */
const char *hv_runtime_call_name(const HvRuntime *runtime, size_t member);

/* One function of a library: where in a table it goes, and what it is called. */
typedef struct HvSymbol {
    size_t member;
    const char *name;
} HvSymbol;

/* Fills the table's members; FALSE and `why` when the library lacks one. */
gboolean hv_runtime_symbols(void *table, void *library, const HvSymbol *symbols, unsigned n,
                            char **why);

/* The functions of graphs, under the runtime's names for them; leaves them all NULL where the
 * library lacks one, or HIPVMAF_GRAPHS is 0. */
void hv_runtime_graphs(HvRuntime *runtime, void *library, const HvSymbol *symbols, unsigned n);

/* cuda.c: fills the table with thunks over libcuda; `library` is a GModule. */
gboolean hv_runtime_load_cuda(HvRuntime *runtime, void *library, char **why);
const char *hv_runtime_cuda_name(size_t member);

#endif
