# Every grouping and order gives a table; calls and max order by what they say.
for group in name category scope source module raw; do
    view_profile top --group $group --format json "$TRACES/jax_cpu/three_runs" |
        jq -r --arg g $group '[$g, (.ops | length > 0)] | @tsv'
done
for by in self total calls max; do
    key=${by}_ps; [ $by = calls ] && key=calls
    view_profile top --by $by --format json "$TRACES/jax_cpu/three_runs" |
        jq -r --arg b $by --arg k $key '[.ops[] | .[$k]] | [$b, (. == (sort | reverse))] | @tsv'
done
