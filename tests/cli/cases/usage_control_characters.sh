view_profile $'--a\e[31m\nb'
