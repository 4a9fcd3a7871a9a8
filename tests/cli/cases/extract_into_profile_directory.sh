# The profile directory is never written to.
mkdir d && cp -r "$TRACES/jax_cpu/three_runs/plugins" d
chmod -R u+w d
view_profile extract --out d/o d
code=$?
ls d
exit $code
