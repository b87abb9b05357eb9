# What `make install` brings. Everything is found relative to the programs, so the prefix can be moved as a whole.
set(FABRICBENCH_LINK_PREFIX "fb_" CACHE STRING
    "What the commands in bin begin with; nccl-tests has programs of the same names")
configure_file(src/cluster/command/link_prefix.h.in generated/cluster/command/link_prefix.h @ONLY)
set(FABRICBENCH_LIBEXECDIR ${CMAKE_INSTALL_LIBEXECDIR}/fabricbench)
set(FABRICBENCH_SHAREDIR ${CMAKE_INSTALL_DATADIR}/fabricbench)
# Our own, not that of the project that may include this one: docs link to each other by these names.
set(FABRICBENCH_DOCDIR ${CMAKE_INSTALL_DATADIR}/doc/fabricbench)

# Programs, in a folder of their own where scripts find them by their plain names.
set(programs ${FABRICBENCH_PROGRAMS} ${FABRICBENCH_TOOLS})
install(TARGETS ${programs} RUNTIME DESTINATION ${FABRICBENCH_LIBEXECDIR})
install(TARGETS planted_faults LIBRARY DESTINATION ${FABRICBENCH_LIBEXECDIR})
file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_LIBEXECDIR}/fabricbench ${CMAKE_INSTALL_FULL_LIBDIR}/fabricbench)
# With the folders of libraries that were linked from elsewhere, such as an MPI in /opt.
set_target_properties(${programs} planted_faults PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}"
                                                            INSTALL_RPATH_USE_LINK_PATH ON)

# Commands: links, of which only `fabricbench` has no prefix.
file(RELATIVE_PATH to_programs ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBEXECDIR}/fabricbench)
file(REMOVE_RECURSE ${PROJECT_BINARY_DIR}/links)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/links)
foreach(program IN LISTS programs)
  set(command ${FABRICBENCH_LINK_PREFIX}${program})
  if(program STREQUAL "fabricbench")
    set(command ${program})
  endif()
  file(CREATE_LINK ${to_programs}/${program} ${PROJECT_BINARY_DIR}/links/${command} SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/links/${command} DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()

# Scripts for users; the others build or test the sources.
install(DIRECTORY scripts DESTINATION ${FABRICBENCH_SHAREDIR} USE_SOURCE_PERMISSIONS
        PATTERN __pycache__ EXCLUDE
        REGEX "/scripts/(fuzz|quickstart|test)\\.sh$|/scripts/(mutants|summarize_tests)\\.py$" EXCLUDE)
install(DIRECTORY examples DESTINATION ${FABRICBENCH_SHAREDIR} USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
install(DIRECTORY results/presets DESTINATION ${FABRICBENCH_SHAREDIR})
install(FILES docs/output.schema.json DESTINATION ${FABRICBENCH_SHAREDIR})

# For `module use PREFIX/share/fabricbench/modulefiles`.
install(FILES packaging/fabricbench.lua DESTINATION ${FABRICBENCH_SHAREDIR}/modulefiles/fabricbench
        RENAME ${PROJECT_VERSION}.lua)

# Beside each other as in the sources, so that their links lead somewhere.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE DESTINATION ${FABRICBENCH_DOCDIR})
install(FILES bench/README.md DESTINATION ${FABRICBENCH_DOCDIR}/bench)
install(DIRECTORY docs DESTINATION ${FABRICBENCH_DOCDIR})
file(CREATE_LINK ../../fabricbench/examples ${PROJECT_BINARY_DIR}/links/examples SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/links/examples DESTINATION ${FABRICBENCH_DOCDIR})

# Man pages and completion, which the programs are asked for: not where they are built for another machine.
if(CMAKE_CROSSCOMPILING)
  message(STATUS "Without man pages and completion: programs built for another machine cannot be asked for their options")
else()
  find_program(FABRICBENCH_HELP2MAN help2man)
  if(NOT FABRICBENCH_HELP2MAN)
    message(STATUS "Without man pages: there is no help2man, which makes them")
  endif()
  set(manuals ${PROJECT_BINARY_DIR}/manuals)
  file(GLOB manual_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/packaging/manuals/* ${PROJECT_SOURCE_DIR}/scripts/*.sh)
  foreach(kind PROGRAMS TOOLS)
    set(files_of_${kind} ${FABRICBENCH_${kind}})
    list(TRANSFORM files_of_${kind} PREPEND "$<TARGET_FILE:")
    list(TRANSFORM files_of_${kind} APPEND ">")
  endforeach()
  add_custom_command(OUTPUT ${manuals}/zsh/_fabricbench
                     COMMAND ${CMAKE_COMMAND} -E rm -rf ${manuals}
                     COMMAND ${PROJECT_SOURCE_DIR}/packaging/manuals/make.sh ${manuals} ${PROJECT_VERSION}
                             "${FABRICBENCH_LINK_PREFIX}" "$<$<BOOL:${FABRICBENCH_HELP2MAN}>:${FABRICBENCH_HELP2MAN}>"
                             ${files_of_PROGRAMS} -- ${files_of_TOOLS}
                     DEPENDS ${programs} ${manual_sources} VERBATIM COMMENT "Making man pages and completion")
  add_custom_target(manuals ALL DEPENDS ${manuals}/zsh/_fabricbench)
  install(DIRECTORY ${manuals}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(DIRECTORY ${manuals}/completion DESTINATION ${FABRICBENCH_SHAREDIR})
  install(DIRECTORY ${manuals}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(DIRECTORY ${manuals}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  foreach(folder site-functions vendor-completions)  # the second is Debian's
    install(DIRECTORY ${manuals}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${folder})
  endforeach()
endif()
