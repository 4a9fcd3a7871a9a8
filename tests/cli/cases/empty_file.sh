mkdir d && : > d/vm.xplane.pb && view_profile top d
