/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ADM_RECIPROCAL_LANES_H
#define ADM_RECIPROCAL_LANES_H

/* How many reciprocals of vectors differ from divisions, at each processor level. */
unsigned adm_reciprocal_mismatches_baseline(void);
unsigned adm_reciprocal_mismatches_v3(void);
unsigned adm_reciprocal_mismatches_v4(void);
unsigned adm_reciprocal_mismatches_vnni(void);

#endif
