# Absolute names, "..", links and devices are not followed; the good member is kept.
python3 "$CASES/hostile_tar.py" "$TRACES/jax_cpu/three_runs/plugins/profile/2026_11_21_06_34_00/vm.xplane.pb" h.tar
view_profile extract --out o h.tar
code=$?
find .. /tmp/vp_cli_evil* -name "*.xplane.pb" 2> /dev/null | sort
exit $code
