view_profile extract --out no/such/o "$TRACES/archives_made/reactant_2runs_dotslash.tar.gz"
