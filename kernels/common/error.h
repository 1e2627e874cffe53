/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The error domain of everything under kernels/. Messages are whole sentences for the user. */
#ifndef HV_ERROR_H
#define HV_ERROR_H

#include <glib.h>

#define HV_ERROR (hv_error_quark())

typedef enum HvErrorCode {
    HV_ERROR_UNKNOWN_METRIC, /* no metric of that name */
    HV_ERROR_OPTION,         /* an option's name or value is wrong */
    HV_ERROR_SIZE,           /* the metric cannot measure pictures of this size or format */
    HV_ERROR_BACKEND,        /* the backend is not there or failed */
    HV_ERROR_MEMORY,         /* out of memory */
    HV_ERROR_MODEL           /* a VMAF model cannot be read or used */
} HvErrorCode;

GQuark hv_error_quark(void);

#endif
