# With --extract it lists and unpacks, and ends.
view_profile --list-only --extract --ui both "$TRACES/archives_made/reactant_2runs_dotslash.tar.gz"
