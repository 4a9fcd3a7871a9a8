# Used by scripts/wheel: installs the libraries that the programs load on first use.
set(VP_WHEEL_LIBRARIES "" CACHE PATH "libraries of a wheel, built by scripts/wheel_libraries")

function(vp_install_libraries)
  if(VP_WHEEL_LIBRARIES)
    install(PROGRAMS ${VP_WHEEL_LIBRARIES}/libarchive.so.13 ${VP_WHEEL_LIBRARIES}/libmicrohttpd.so.12 DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(DIRECTORY ${VP_WHEEL_LIBRARIES}/../licences DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/view_profile)
  endif()
endfunction()
