/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pinned memory: see pinnedmemory.h. */

#include "pinnedmemory.h"

#define GST_TYPE_HIP_VMAF_PINNED_ALLOCATOR \
    (gst_hip_vmaf_pinned_allocator_get_type ())
G_DECLARE_FINAL_TYPE (GstHipVmafPinnedAllocator, gst_hip_vmaf_pinned_allocator,
    GST, HIP_VMAF_PINNED_ALLOCATOR, GstAllocator)
     struct _GstHipVmafPinnedAllocator
     {
       GstAllocator parent;
       HvHip *hip;
     };

     typedef struct
     {
       GstMemory parent;
       gpointer block;          /* as it was allocated; NULL in what is shared */
       gpointer data;           /* that offset counts from */
       gboolean pinned;
     } GstHipVmafPinnedMemory;

G_DEFINE_TYPE (GstHipVmafPinnedAllocator, gst_hip_vmaf_pinned_allocator,
    GST_TYPE_ALLOCATOR);

     static void
         allocate_block (GstHipVmafPinnedAllocator * self,
    GstHipVmafPinnedMemory * mem, gsize size)
{
  GError *error = NULL;

  mem->block = hv_hip_malloc_pinned (self->hip, size, &error);
  mem->pinned = mem->block != NULL;
  if (mem->pinned)
    return;
  GST_INFO_OBJECT (self, "ordinary memory instead of pinned: %s",
      error->message);
  g_error_free (error);
  mem->block = g_try_malloc (size);
}

static GstMemory *
gst_hip_vmaf_pinned_allocator_alloc (GstAllocator * allocator, gsize size,
    GstAllocationParams * params)
{
  GstHipVmafPinnedMemory *mem = g_new0 (GstHipVmafPinnedMemory, 1);
  gsize align = params->align | gst_memory_alignment;
  gsize maxsize = params->prefix + size + params->padding;

  allocate_block (GST_HIP_VMAF_PINNED_ALLOCATOR (allocator), mem,
      maxsize + align);
  if (mem->block == NULL) {
    g_free (mem);
    return NULL;
  }
  mem->data = (gpointer) (((guintptr) mem->block + align) & ~align);
  gst_memory_init (GST_MEMORY_CAST (mem), params->flags, allocator, NULL,
      maxsize, align, params->prefix, size);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED)
    memset (mem->data, 0, params->prefix);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PADDED)
    memset ((guint8 *) mem->data + params->prefix + size, 0, params->padding);
  return GST_MEMORY_CAST (mem);
}

static void
gst_hip_vmaf_pinned_allocator_free (GstAllocator * allocator,
    GstMemory * memory)
{
  GstHipVmafPinnedMemory *mem = (GstHipVmafPinnedMemory *) memory;

  if (mem->pinned)
    hv_hip_free_pinned (GST_HIP_VMAF_PINNED_ALLOCATOR (allocator)->hip,
        mem->block);
  else
    g_free (mem->block);
  g_free (mem);
}

static gpointer
map_memory (GstMemory * memory, gsize maxsize, GstMapFlags flags)
{
  return ((GstHipVmafPinnedMemory *) memory)->data;
}

static void
unmap_memory (GstMemory * memory)
{
}

static GstMemory *
share_memory (GstMemory * memory, gssize offset, gssize size)
{
  GstHipVmafPinnedMemory *shared = g_new0 (GstHipVmafPinnedMemory, 1);
  GstMemory *parent = memory->parent != NULL ? memory->parent : memory;

  if (size == -1)
    size = memory->size - offset;
  shared->data = ((GstHipVmafPinnedMemory *) memory)->data;
  gst_memory_init (GST_MEMORY_CAST (shared),
      GST_MINI_OBJECT_FLAGS (parent) | GST_MINI_OBJECT_FLAG_LOCK_READONLY,
      memory->allocator, parent, memory->maxsize, memory->align,
      memory->offset + offset, size);
  return GST_MEMORY_CAST (shared);
}

static void
gst_hip_vmaf_pinned_allocator_finalize (GObject * object)
{
  hv_hip_unref (GST_HIP_VMAF_PINNED_ALLOCATOR (object)->hip);
  G_OBJECT_CLASS (gst_hip_vmaf_pinned_allocator_parent_class)->finalize
      (object);
}

static void
gst_hip_vmaf_pinned_allocator_init (GstHipVmafPinnedAllocator * self)
{
  GstAllocator *allocator = GST_ALLOCATOR (self);

  allocator->mem_type = "HipVmafPinned";
  allocator->mem_map = map_memory;
  allocator->mem_unmap = unmap_memory;
  allocator->mem_share = share_memory;
}

static void
gst_hip_vmaf_pinned_allocator_class_init (GstHipVmafPinnedAllocatorClass *
    klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_hip_vmaf_pinned_allocator_finalize;
  GST_ALLOCATOR_CLASS (klass)->alloc = gst_hip_vmaf_pinned_allocator_alloc;
  GST_ALLOCATOR_CLASS (klass)->free = gst_hip_vmaf_pinned_allocator_free;
}

GstAllocator *
gst_hip_vmaf_pinned_allocator_new (HvHip * hip)
{
  GstHipVmafPinnedAllocator *self =
      g_object_new (GST_TYPE_HIP_VMAF_PINNED_ALLOCATOR, NULL);

  self->hip = hv_hip_ref (hip);
  return GST_ALLOCATOR (gst_object_ref_sink (self));
}
