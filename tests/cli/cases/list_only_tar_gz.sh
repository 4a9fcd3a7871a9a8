view_profile --list-only "$TRACES/archives_made/reactant_2runs_dotslash.tar.gz"
