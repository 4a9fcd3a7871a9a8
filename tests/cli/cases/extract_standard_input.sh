# A single trace from a pipe gets a name.
view_profile extract --out o - < "$TRACES/jax_cpu/three_runs/plugins/profile/2026_11_21_06_34_00/vm.xplane.pb"
ls o
