# Three of the five runs have a timeline; .trace, overview_page and caches are none.
view_profile --list-only "$TRACES/archives_made/tb_review_logs.zip"
