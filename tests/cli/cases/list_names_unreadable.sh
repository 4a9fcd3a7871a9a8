# One line without --verbose, one a file with it, none with --quiet.
mkdir -p d/run && cp "$TRACES/jax_cpu/three_runs/plugins/profile/2026_11_21_06_34_00/vm.xplane.pb" d/run
printf 'SQLite format 3\0' > d/run/a.rpd
: > d/run/b.xplane.pb
for how in '' --verbose --quiet; do view_profile --list-only $how d/run > /dev/null; done
