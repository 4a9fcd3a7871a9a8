f="$TRACES/jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb"
for words in high transfers f6,F99 F14 'F14, F6' , worse; do
    view_profile findings -o /dev/null --fail-on "$words" "$f"
    echo "$words: $?"
done
