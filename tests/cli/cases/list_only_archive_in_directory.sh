mkdir d && cp "$TRACES/archives_made/reactant_2runs_dotslash.tar.gz" d/runs.tar.gz
view_profile --list-only d
