mkdir d && cp "$TRACES/archives_made/reactant_2runs_dotslash.tar.gz" d/runs.tar.gz && cp "$TRACES/archives_made/tb_review_logs.zip" d/runs.zip
view_profile extract --out o d || exit
find o -type f ! -name '.*' -printf '%P\n' | sort
