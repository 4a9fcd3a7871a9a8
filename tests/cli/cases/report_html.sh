# One page, no script, nothing from outside.
view_profile report --format html -o r.html "$TRACES/jax_tpu/vllm-project__tpu-inference/profiles" && ls
grep -ci '<script' r.html; grep -cE '(src|href)="?https?:' r.html
grep -c '</html>' r.html
