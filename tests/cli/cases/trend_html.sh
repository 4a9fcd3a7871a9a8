view_profile trend --format html "$TRACES/jax_cpu/three_runs" "$TRACES/jax_cpu/mnist_train" -o t.html && grep -c "<svg" t.html && ! grep -qE "<script|style=|https?://" t.html
