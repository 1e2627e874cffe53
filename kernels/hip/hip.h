/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A GPU through HIP, on AMD or (HIP's second platform) NVIDIA: the runtime, loaded at run time and
 * never linked; a device; its kernels; memory and streams. Every function that can fail returns
 * FALSE or NULL and sets an HV_ERROR_BACKEND error that names the call, the kernel where there is
 * one, and the cause.
 *
 * Threads: an HvHip may be used from any thread; each call sets its device first. */
#ifndef HV_HIP_H
#define HV_HIP_H

#include "kernels/common/error.h"
#include "kernels/common/picture.h"
#include "kernels/hip/image.h"

typedef struct HvHip HvHip;
typedef struct HvHipStream HvHipStream;
typedef struct HvHipEvent HvHipEvent;

/* An address in device memory; never dereferenced on the host. */
typedef uint64_t HvDevice;

/* As a pointer member of a struct that kernels read. */
static inline void *hv_device_pointer(HvDevice address)
{
    return (void *)(uintptr_t)address;
}

/* How many parts of `by` cover n. */
static inline unsigned hv_divide_up(unsigned n, unsigned by)
{
    return (n + by - 1) / by;
}

/* Loads the runtime (HIPVMAF_RUNTIME first, then libamdhip64.so.7, .6, .5, then libcuda.so.1),
 * takes device `device_id` (-1: the first that the build has code for) and loads all kernels. On
 * failure the message says what was looked for and not found. */
HvHip *hv_hip_open(int device_id, GError **error);
HvHip *hv_hip_ref(HvHip *hip);
void hv_hip_unref(HvHip *hip);

/* From here on whoever waits for the device gives up after so many microseconds (more than 0): that
 * call fails, as do all later ones, and what is freed after that is lost, since the device may
 * still be using it. Until this is called, waits have no limit. To be called before the device is
 * used. FALSE and an error where there is no thread to be had (HV_ERROR_MEMORY), or none that the
 * device can be set for; hip is then good for nothing but hv_hip_unref(). */
gboolean hv_hip_set_timeout(HvHip *hip, gint64 timeout_us, GError **error);

/* Whether the device does something when asked to: a fill is queued and waited for. */
gboolean hv_hip_probe(HvHip *hip, GError **error);

/* Which code this build has, for users: "gfx900;gfx90a and PTX for NVIDIA", "none". The caller
 * frees it. */
char *hv_hip_describe_code(void);

/* What a user may want to know; owned by hip. */
const char *hv_hip_platform(const HvHip *hip); /* "amd" or "nvidia" */
const char *hv_hip_device_name(const HvHip *hip);
const char *hv_hip_target(const HvHip *hip); /* "gfx90a", "sm_90", ... */

/* Device memory, and pinned host memory. Contents are undefined. Freeing 0 or NULL does nothing. */
gboolean hv_hip_malloc(HvHip *hip, size_t bytes, HvDevice *out, GError **error);
void hv_hip_free(HvHip *hip, HvDevice memory);
gpointer hv_hip_malloc_pinned(HvHip *hip, size_t bytes, GError **error);
void hv_hip_free_pinned(HvHip *hip, gpointer memory);

/* Whether [address, address + bytes) lies within one of this device's allocations of
 * hv_hip_malloc(); and whether host memory lies within a pinned one of ours. */
gboolean hv_hip_is_device(HvHip *hip, HvDevice address, size_t bytes);
gboolean hv_hip_is_pinned(HvHip *hip, gconstpointer memory, size_t bytes);

/* Bytes of device memory that this HvHip holds now. */
size_t hv_hip_allocated(HvHip *hip);

/* Streams are non-blocking: nothing orders them but events. There is no call without a stream. */
HvHipStream *hv_hip_stream_new(HvHip *hip, GError **error);
void hv_hip_stream_free(HvHip *hip, HvHipStream *stream); /* waits for it */
HvHipEvent *hv_hip_event_new(HvHip *hip, GError **error);
void hv_hip_event_free(HvHip *hip, HvHipEvent *event);
gboolean hv_hip_event_record(HvHip *hip, HvHipEvent *event, HvHipStream *stream, GError **error);
gboolean hv_hip_event_wait(HvHip *hip, HvHipEvent *event, GError **error); /* the calling thread */
gboolean hv_hip_stream_wait_event(HvHip *hip, HvHipStream *stream, HvHipEvent *event,
                                  GError **error);
gboolean hv_hip_stream_wait(HvHip *hip, HvHipStream *stream, GError **error);
/* Waits, before what the stream's work uses is freed, as well as that can be done after a failure.
 * Nothing for NULL. */
void hv_hip_stream_quiesce(HvHip *hip, HvHipStream *stream);

/* Asynchronous copies; host memory must be pinned to be copied while the caller goes on. */
gboolean hv_hip_upload(HvHip *hip, HvDevice to, gconstpointer from, size_t bytes,
                       HvHipStream *stream, GError **error);
gboolean hv_hip_upload_2d(HvHip *hip, HvDevice to, size_t to_pitch, gconstpointer from,
                          size_t from_pitch, size_t row_bytes, size_t rows, HvHipStream *stream,
                          GError **error);
gboolean hv_hip_download(HvHip *hip, gpointer to, HvDevice from, size_t bytes, HvHipStream *stream,
                         GError **error);
gboolean hv_hip_fill(HvHip *hip, HvDevice to, uint8_t value, size_t bytes, HvHipStream *stream,
                     GError **error);

/* What is queued in a stream between these two calls, launches, fills and copies, is not run, but
 * becomes a graph: that is queued at the cost of one call, as often as wanted, with the same
 * arguments. In between the calling thread may do nothing else with the device, and whatever comes
 * of it, the end is to be called. There are runtimes without graphs, so that nobody may depend on
 * them: no error says why the first call returns FALSE, or the second one NULL, as it does when
 * something failed in between. */
typedef struct HvHipGraph HvHipGraph;
gboolean hv_hip_capture_begin(HvHip *hip, HvHipStream *stream);
HvHipGraph *hv_hip_capture_end(HvHip *hip, HvHipStream *stream);
gboolean hv_hip_graph_launch(HvHip *hip, HvHipGraph *graph, HvHipStream *stream, GError **error);
void hv_hip_graph_free(HvHip *hip, HvHipGraph *graph); /* it may not run any more */

/* A kernel by name, owned by hip; NULL and an error when this device's code has none. */
typedef struct HvHipKernel HvHipKernel;
const HvHipKernel *hv_hip_kernel(HvHip *hip, const char *name, GError **error);

/* One typed argument. Pointers are checked against the device's allocations. */
typedef enum HvArgumentType {
    HV_ARGUMENT_POINTER,
    HV_ARGUMENT_U32,
    HV_ARGUMENT_U64
} HvArgumentType;
typedef struct HvArgument {
    HvArgumentType type;
    uint64_t value;
} HvArgument;

static inline HvArgument hv_pointer(HvDevice address)
{
    return (HvArgument){HV_ARGUMENT_POINTER, address};
}

static inline HvArgument hv_u32(uint32_t value)
{
    return (HvArgument){HV_ARGUMENT_U32, value};
}

/* Launches grid_x * grid_y * grid_z blocks of the kernel's own size. Before the call the number,
 * the sizes and kinds of the arguments are checked against what the build read out of the code
 * object, and pointers against this device's memory: on a real AMD GPU a bad one ends the process.
 */
gboolean hv_hip_launch(HvHip *hip, const HvHipKernel *kernel, unsigned grid_x, unsigned grid_y,
                       unsigned grid_z, HvHipStream *stream, const HvArgument *arguments,
                       unsigned n_arguments, GError **error);

/* Checks, before a struct that kernels take by pointer is copied to the device, that every pointer
 * member (at these offsets) lies within this device's memory. */
gboolean hv_hip_check_struct(HvHip *hip, const char *name, gconstpointer host_copy,
                             const size_t *pointer_offsets, unsigned n, GError **error);

#endif
