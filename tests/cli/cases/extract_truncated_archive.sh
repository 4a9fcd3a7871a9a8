view_profile extract --out o "$TRACES/archives_made/truncated.tar.gz"
code=$?
find o -type f ! -name '.*' -printf '%P %s\n' | sort
exit $code
