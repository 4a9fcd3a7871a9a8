view_profile compare a b --max-regression five
view_profile compare a b --max-regression 5%%
view_profile compare a b --fail-on-peak lots
view_profile compare a b --fail-on always
view_profile compare a
