/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VIF_LOG_LANES_H
#define VIF_LOG_LANES_H

#include <stdint.h>

/* How many logarithms of vectors differ from the table's, at each processor level. */
unsigned vif_log_mismatches_baseline(const uint16_t *table);
unsigned vif_log_mismatches_v3(const uint16_t *table);
unsigned vif_log_mismatches_v4(const uint16_t *table);
unsigned vif_log_mismatches_vnni(const uint16_t *table);

#endif
