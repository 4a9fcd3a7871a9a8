# Names from the disk cannot steer the terminal.
mkdir -p $'d/plugins/profile/2026_01_01_00_00_00\e[31m\n1. evil'
cp "$TRACES/jax_cpu/three_runs/plugins/profile/2026_11_21_06_34_00/vm.xplane.pb" d/plugins/profile/*/
view_profile --list-only d
view_profile list --format json d | jq -c '.sessions | length'
view_profile list d | grep -c $'\e'
exit 0
