# As many files as --list-only counts; plain ones are copied, .gz ones unpacked.
view_profile extract --out o "$TRACES/jax_cpu/three_runs" || exit
find o -type f ! -name '.*' -printf '%P\n' | sort
for run in 2026_11_21_06_34_00 2026_11_21_06_34_02; do
    cmp o/plugins/profile/$run/vm.xplane.pb "$TRACES/jax_cpu/three_runs/plugins/profile/$run/vm.xplane.pb"
    zcat "$TRACES/jax_cpu/three_runs/plugins/profile/$run/vm.trace.json.gz" |
        cmp - o/plugins/profile/$run/vm.trace.json
done
