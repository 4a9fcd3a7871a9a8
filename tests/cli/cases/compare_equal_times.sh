COLUMNS=80 view_profile compare "$TRACES/pytorch_cuda/pytorch__kineto/docs/traces/before_fix_trace.json" "$TRACES/pytorch_cuda/pytorch__kineto/docs/traces/after_fix_trace.json"
