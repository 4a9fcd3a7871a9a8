# A capture in which nothing ran.
view_profile top "$TRACES/jax_cpu/empty_window"
