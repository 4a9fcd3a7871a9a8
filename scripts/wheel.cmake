# What scripts/wheel adds: libraries that the programs load lie in lib/view_profile, where nothing else looks for them.
set(VP_WHEEL_LIBRARIES "" CACHE PATH "libraries of a wheel, as scripts/wheel_libraries makes them")

# vp_finds_libraries(TARGET FROM): TARGET is installed FROM there to the prefix.
function(vp_finds_libraries target from)
  if(VP_WHEEL_LIBRARIES)
    set_property(TARGET ${target} APPEND PROPERTY INSTALL_RPATH "$ORIGIN/${from}lib/view_profile")
  endif()
endfunction()

function(vp_install_libraries)
  if(VP_WHEEL_LIBRARIES)
    install(PROGRAMS ${VP_WHEEL_LIBRARIES}/libarchive.so.13 ${VP_WHEEL_LIBRARIES}/libmicrohttpd.so.12
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/view_profile)
    install(DIRECTORY ${VP_WHEEL_LIBRARIES}/../licences DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/view_profile)
  endif()
endfunction()
