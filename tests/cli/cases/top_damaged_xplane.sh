# A field of wire type 7 at byte 0.
printf '\017\017\017\017\017\017\017\017' > vm.xplane.pb
view_profile top vm.xplane.pb
