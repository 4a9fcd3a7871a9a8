mkdir d && view_profile extract --out o d; code=$?; ls; exit $code
