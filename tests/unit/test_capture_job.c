/* Which job a process is one of, by the environments that launchers make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/capture/session/job.h"

static const char *const (*now)[2]; /* names and values, up to a NULL */

static const char *get(const char *name)
{
    for (size_t i = 0; now[i][0]; i++)
        if (strcmp(now[i][0], name) == 0)
            return now[i][1];
    return NULL;
}

static cap_job read_of(const char *const env[][2])
{
    cap_job j;
    now = env;
    job_read(&j, get);
    return j;
}

#define EXPECT(env, want_id, want_rank, want_local, want_ranks)                                    \
    do {                                                                                           \
        cap_job j = read_of(env);                                                                  \
        assert_string_equal(j.id, want_id);                                                        \
        assert_int_equal(j.rank, want_rank);                                                       \
        assert_int_equal(j.local_rank, want_local);                                                \
        assert_int_equal(j.ranks, want_ranks);                                                     \
    } while (0)

static void launchers(void **state)
{
    (void)state;
    static const char *const none[][2] = {{NULL}};
    static const char *const torchrun[][2] = {{"RANK", "5"},
                                              {"LOCAL_RANK", "1"},
                                              {"WORLD_SIZE", "8"},
                                              {"MASTER_ADDR", "node 7"},
                                              {"MASTER_PORT", "29500"},
                                              {"TORCHELASTIC_RUN_ID", "my/run"},
                                              {NULL}};
    static const char *const openmpi[][2] = {{"OMPI_COMM_WORLD_RANK", "0"},
                                             {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                                             {"OMPI_COMM_WORLD_SIZE", "2"},
                                             {"PMIX_NAMESPACE", "prterun-n1-77@1"},
                                             {NULL}};
    static const char *const hydra[][2] = {
        {"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"PMI_PORT", "n1:35871"}, {NULL}};
    static const char *const srun[][2] = {{"SLURM_PROCID", "9"},  {"SLURM_LOCALID", "1"},
                                          {"SLURM_NTASKS", "16"}, {"SLURM_JOB_ID", "4711"},
                                          {"SLURM_STEP_ID", "2"}, {NULL}};
    EXPECT(none, "", -1, -1, -1);
    EXPECT(torchrun, "my_run-node_7-29500", 5, 1, 8);
    EXPECT(openmpi, "prterun_n1_77_1", 0, 0, 2);
    EXPECT(hydra, "n1_35871", 3, -1, 4);
    EXPECT(srun, "4711-2", 9, 1, 16);
}

/* One process is no job; a batch script is in a Slurm job, but in none of its steps; and a variable
 * that happens to be called RANK says nothing. */
static void no_jobs(void **state)
{
    (void)state;
    static const char *const single[][2] = {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {NULL}};
    static const char *const batch[][2] = {
        {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}, {"SLURM_JOB_ID", "4711"}, {NULL}};
    static const char *const rank[][2] = {{"RANK", "3"}, {NULL}};
    static const char *const bad[][2] = {{"RANK", "-1"}, {"WORLD_SIZE", "8"}, {NULL}};
    static const char *const huge[][2] = {{"RANK", "99999999999"}, {"WORLD_SIZE", "8"}, {NULL}};
    EXPECT(single, "", -1, -1, -1);
    EXPECT(batch, "", -1, -1, -1);
    EXPECT(rank, "", -1, -1, -1);
    EXPECT(bad, "", -1, -1, -1);
    EXPECT(huge, "", -1, -1, -1);
}

/* torchrun on each node of srun; and what `record` says goes before what it runs in or runs. */
static void one_in_another(void **state)
{
    (void)state;
    static const char *const both[][2] = {{"SLURM_PROCID", "1"},
                                          {"SLURM_NTASKS", "2"},
                                          {"SLURM_JOB_ID", "4711"},
                                          {"SLURM_STEP_ID", "0"},
                                          {"RANK", "12"},
                                          {"WORLD_SIZE", "16"},
                                          {"TORCHELASTIC_RUN_ID", "r"},
                                          {NULL}};
    static const char *const told[][2] = {{"VIEW_PROFILE_JOB", "../x"},
                                          {"OMPI_COMM_WORLD_RANK", "1"},
                                          {"OMPI_COMM_WORLD_SIZE", "2"},
                                          {"PMIX_NAMESPACE", "ns"},
                                          {NULL}};
    static const char *const alone[][2] = {{"VIEW_PROFILE_JOB", "j"}, {NULL}};
    EXPECT(both, "r", 12, -1, 16);
    EXPECT(told, ".._x", 1, -1, 2);
    EXPECT(alone, "j", -1, -1, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(launchers), cmocka_unit_test(no_jobs),
                                       cmocka_unit_test(one_in_another)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
