/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the rig needs of a feed and tests do not. */
#ifndef CHECK_FEED_H
#define CHECK_FEED_H

#include "common.h"

void feed_init (Feed * feed, Rig * rig);
void feed_link (Feed * feed, const gchar * name);
void feed_run_thread (Feed * feed);
/* Stops the thread; the element no longer holds it up. */
void feed_clear (Feed * feed);

#endif
