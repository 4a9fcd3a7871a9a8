# The newest of ./profiles/*/, ./profiles/*/*/ and ./*/profiles/*/.
for d in profiles/a profiles/b/c exp/profiles/d; do
    mkdir -p $d && cp -r "$TRACES/jax_cpu/three_runs/plugins" $d && chmod -R u+w $d
done
touch -d 2026-01-01 profiles/* profiles/*/* exp/profiles/*
view_profile --list-only --quiet | head -1
touch -d 2026-01-03 exp/profiles/d
view_profile --list-only --quiet | head -1
touch -d 2026-01-04 profiles/b/c
view_profile --list-only --quiet | head -1
rm -r profiles exp && cp -r "$TRACES/jax_cpu/three_runs/plugins" .
view_profile --list-only --quiet | head -1
