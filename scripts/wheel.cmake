# What scripts/wheel adds: libraries that the programs load lie with these.
set(VP_WHEEL_LIBRARIES "" CACHE PATH "libraries of a wheel, as scripts/wheel_libraries makes them")

function(vp_install_libraries)
  if(VP_WHEEL_LIBRARIES)
    install(PROGRAMS ${VP_WHEEL_LIBRARIES}/libarchive.so.13 ${VP_WHEEL_LIBRARIES}/libmicrohttpd.so.12 DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(DIRECTORY ${VP_WHEEL_LIBRARIES}/../licences DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/view_profile)
  endif()
endfunction()
