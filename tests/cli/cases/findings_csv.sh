view_profile findings --format csv "$TRACES/jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb" | head -4
