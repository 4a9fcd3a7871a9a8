# A memory profile is no timeline: said so, not shown as an empty table.
view_profile top "$TRACES/jax_cpu/memory"
