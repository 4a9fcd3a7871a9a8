mkdir o && echo mine > o/file
view_profile extract --out o "$TRACES/archives_made/reactant_2runs_dotslash.tar.gz"
code=$?
ls o
exit $code
