COLUMNS=80 view_profile findings "$TRACES/jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb"
