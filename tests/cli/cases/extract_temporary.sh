view_profile extract "$TRACES/archives_made/reactant_2runs_dotslash.tar.gz" && ls "$TMPDIR"/*/plugins/profile
