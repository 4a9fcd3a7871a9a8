# xprof_opened holds XProf's caches beside the run, memory only a memory.prof.
view_profile --list-only "$TRACES/jax_cpu/xprof_opened"
view_profile --list-only "$TRACES/jax_cpu/memory"
