view_profile --list-only "$TRACES/archives_made/tpu_inference_2runs.tar.zst"
