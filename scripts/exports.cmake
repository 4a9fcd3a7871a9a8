# vp_exports(TARGET WHO): TARGET exports the names that scripts/exports lists for WHO and "both", with a symbol
# version; all other symbols are local. Both libraries use the same version name, so an adapter linked with the
# recorder also works in a process that has loaded the viewer's library first.
function(vp_exports target who)
  set(list ${PROJECT_SOURCE_DIR}/scripts/exports)
  set(map ${PROJECT_BINARY_DIR}/${target}.map)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} lines REGEX "^(${who}|both) ")
  list(TRANSFORM lines REPLACE "^[a-z]+ " "")
  string(REPLACE ";" ";\n    " names "${lines}")
  file(CONFIGURE OUTPUT ${map} CONTENT "VIEW_PROFILE_${PROJECT_VERSION_MAJOR} {\n  global:\n    @names@;\n  local: *;\n};\n" @ONLY)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()

# vp_static(TARGET OBJECTS OUT_NAME LIBRARIES…): builds lib<OUT_NAME>.a from the objects of target OBJECTS, to be
# linked with LIBRARIES. The objects are merged into one and hidden symbols made local, so internal names such as
# arena_new cannot clash with those of the program.
function(vp_static target objects out_name)
  set(one ${PROJECT_BINARY_DIR}/${out_name}.o)
  set(archive ${PROJECT_BINARY_DIR}/lib${out_name}.a)
  add_custom_command(OUTPUT ${archive} DEPENDS $<TARGET_OBJECTS:${objects}> COMMAND_EXPAND_LISTS VERBATIM
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${one} $<TARGET_OBJECTS:${objects}>
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${one}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
    COMMAND ${CMAKE_AR} qcD ${archive} ${one})
  add_custom_target(${target}_archive ALL DEPENDS ${archive})
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${archive} INTERFACE_INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/include
                        INTERFACE_LINK_LIBRARIES "${ARGN}")
  add_dependencies(${target} ${target}_archive)
  install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endfunction()
