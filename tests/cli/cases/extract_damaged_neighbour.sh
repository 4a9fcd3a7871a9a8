# The damaged file is named and left out, nothing of it stays, the other is kept, exit 3.
mkdir -p d/plugins/profile/2026_01_01_00_00_00 && cd d/plugins/profile/2026_01_01_00_00_00
cp "$TRACES/jax_cpu/three_runs/plugins/profile/2026_11_21_06_34_00/vm.trace.json.gz" good.trace.json.gz
head -c 9000 good.trace.json.gz > cut.trace.json.gz
cd "$OLDPWD"
view_profile extract --out o d
code=$?
find o -type f ! -name '.*' -printf '%P\n'
exit $code
