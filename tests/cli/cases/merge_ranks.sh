A="$TRACES/archives/facebookresearch__param/dlrm_kineto.tar.gz"
for i in 7 0 3 1 2 6 5 4; do view_profile report --quiet --format json --host worker${i}_step_12 "$A" -o rank$i.json; done
view_profile report --quiet --format json "$A" -o whole.json
view_profile merge rank*.json -o merged.json && cmp whole.json merged.json && echo the same
view_profile merge rank7.json rank[0-3].json -o part.json && view_profile merge part.json rank[456].json | cmp - whole.json && echo the same in two stages
view_profile merge rank0.json rank0.json
