/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The row-slice threads: every job once, visible after the run, for many runs. */
#include "kernels/common/error.h"
#include "kernels/common/lock.h"
#include "kernels/cpu/slices.h"
#include "threads.h"

enum { MOST_THREADS = 5, MOST_JOBS = 300 };

static HvSlices *make(unsigned threads)
{
    GError *error = NULL;
    HvSlices *slices = hv_slices_new(threads, &error);
    g_assert_no_error(error);
    g_assert_nonnull(slices);
    g_assert_cmpuint(hv_slices_threads(slices), ==, MAX(threads, 1));
    return slices;
}

/* Plain memory on purpose: ThreadSanitizer sees whether the run orders the accesses. */
typedef struct Sum {
    unsigned times[MOST_JOBS];
    unsigned input;
    unsigned scratch[MOST_THREADS];
} Sum;

static void add_job(void *data, unsigned job, unsigned worker)
{
    Sum *sum = data;
    g_assert_cmpuint(job, <, MOST_JOBS);
    g_assert_cmpuint(worker, <, MOST_THREADS);
    sum->times[job] += sum->input;
    sum->scratch[worker]++;
}

static void test_runs(void)
{
    for (unsigned threads = 0; threads <= MOST_THREADS; threads++) {
        HvSlices *slices = make(threads);
        for (unsigned run = 0; run < 2000; run++) {
            Sum sum = {.input = run + 1};
            unsigned n_jobs = run % (MOST_JOBS + 1), by_worker = 0;
            hv_slices_run(slices, n_jobs, add_job, &sum);
            for (unsigned job = 0; job < MOST_JOBS; job++)
                g_assert_cmpuint(sum.times[job], ==, job < n_jobs ? run + 1 : 0);
            for (unsigned worker = 0; worker < MOST_THREADS; worker++) {
                g_assert_true(worker < MAX(threads, 1) || !sum.scratch[worker]);
                by_worker += sum.scratch[worker];
            }
            g_assert_cmpuint(by_worker, ==, n_jobs);
        }
        hv_slices_free(slices);
    }
}

/* Jobs that wait for each other end only when as many threads as there are jobs run them; then each
 * has a number of its own. */
typedef struct Meeting {
    HvLock lock;
    HvCond cond;
    unsigned present, expected;
    gboolean is_present[MOST_THREADS];
} Meeting;

static void meet(void *data, unsigned job, unsigned worker)
{
    Meeting *meeting = data;
    hv_lock(&meeting->lock);
    g_assert_cmpuint(worker, <, meeting->expected);
    g_assert_false(meeting->is_present[worker]);
    meeting->is_present[worker] = TRUE;
    meeting->present++;
    hv_cond_broadcast(&meeting->cond);
    while (meeting->present < meeting->expected)
        hv_cond_wait(&meeting->cond, &meeting->lock);
    hv_unlock(&meeting->lock);
}

static void test_all_threads(void)
{
    for (unsigned threads = 1; threads <= MOST_THREADS; threads++) {
        HvSlices *slices = make(threads);
        for (unsigned run = 0; run < 100; run++) {
            Meeting meeting = {.expected = threads};
            hv_lock_init(&meeting.lock);
            hv_cond_init(&meeting.cond);
            hv_slices_run(slices, threads, meet, &meeting);
            g_assert_cmpuint(meeting.present, ==, threads);
            hv_cond_clear(&meeting.cond);
            hv_lock_clear(&meeting.lock);
        }
        hv_slices_free(slices);
    }
}

/* Each run reads what the one before wrote, as the passes of a metric do. */
typedef struct Chain {
    const unsigned *from;
    unsigned *to;
} Chain;

static void chain_job(void *data, unsigned job, unsigned worker)
{
    Chain *chain = data;
    chain->to[job] = chain->from[MOST_JOBS - 1 - job] + 1;
}

static void test_chain(void)
{
    unsigned buffers[2][MOST_JOBS] = {{0}};
    HvSlices *slices = make(3);
    for (unsigned run = 0; run < 2000; run++) {
        Chain chain = {buffers[run % 2], buffers[!(run % 2)]};
        hv_slices_run(slices, MOST_JOBS, chain_job, &chain);
    }
    for (unsigned job = 0; job < MOST_JOBS; job++)
        g_assert_cmpuint(buffers[0][job], ==, 2000);
    hv_slices_free(slices);
}

static void test_no_thread(void)
{
    for (int granted = 0; granted < 3; granted++) {
        GError *error = NULL;
        threads_grant(granted);
        g_assert_null(hv_slices_new(4, &error));
        threads_grant(-1);
        g_assert_error(error, HV_ERROR, HV_ERROR_MEMORY);
        g_assert_true(g_str_has_prefix(error->message, "cannot start the thread hv-slice: "));
        g_error_free(error);
    }
    hv_slices_free(NULL);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/slices/runs", test_runs);
    g_test_add_func("/slices/all-threads", test_all_threads);
    g_test_add_func("/slices/chain", test_chain);
    g_test_add_func("/slices/no-thread", test_no_thread);
    return g_test_run();
}
