# vm.trace.json and vm.trace.json.gz unpack to one name: both are kept.
mkdir d && cp "$TRACES/jax_cpu/three_runs/plugins/profile/2026_11_21_06_34_00/vm.trace.json.gz" d
gunzip -k d/*.gz
view_profile extract --out o d
ls o
