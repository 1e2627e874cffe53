/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Scores over a whole stream, which libvmaf calls aggregate metrics: each is made from sums over
 * the stream's scored pairs, in constant memory. They outlive meters: a change of format makes a
 * new meter, and the stream goes on.
 *
 * Threads: any function but free may be called from any thread. */
#ifndef HV_AGGREGATES_H
#define HV_AGGREGATES_H

#include "metric.h"

typedef struct HvAggregates HvAggregates;

HvAggregates *hv_aggregates_new(void);
void hv_aggregates_free(HvAggregates *aggregates);

/* For meters: the position of the score of that name, made where there is none (`how` is static),
 * and what one pair adds to its sums, how->n_sums numbers. */
unsigned hv_aggregates_find(HvAggregates *aggregates, const char *name, const HvAggregate *how);
void hv_aggregates_add(HvAggregates *aggregates, unsigned i, const double *terms);

/* How many scores there are; the i-th one's name, owned by `aggregates`; its value over the pairs
 * scored so far, NAN where there was none. Right after hv_meter_drain(), it is over all of them. */
unsigned hv_aggregates_size(HvAggregates *aggregates);
const char *hv_aggregates_name(HvAggregates *aggregates, unsigned i);
double hv_aggregates_value(HvAggregates *aggregates, unsigned i);

#endif
