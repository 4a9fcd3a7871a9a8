# The second run has the slow block; its scope heads the table.
view_profile top --group scope --format csv "$TRACES/jax_cpu/three_runs" 2026_11_21_06_34_02 |
    sed -n 2p | grep -o slow_block | sort -u
