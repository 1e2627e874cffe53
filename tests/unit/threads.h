/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Makes the creation of threads fail, for programs that are linked with threads.c. */
#ifndef HV_TEST_THREADS_H
#define HV_TEST_THREADS_H

/* From now on so many threads are granted; negative: any number. */
void threads_grant(int n);

#endif
