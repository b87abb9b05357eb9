# Compute nodes are to need MPI and nothing else. A library of which the distribution has an archive is linked statically;
# of another one, the shared library is installed with the programs.

# Copies of what is installed with the programs: no package of the distribution has these files.
set(FABRICBENCH_BROUGHT_LIBRARIES ${PROJECT_BINARY_DIR}/libraries)
file(MAKE_DIRECTORY ${FABRICBENCH_BROUGHT_LIBRARIES})

# fabricbench_bring(FILE): installs this shared library where the programs look first, under the name that they ask for.
function(fabricbench_bring file)
  execute_process(COMMAND ${CMAKE_READELF} -d ${file} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  if(NOT dynamic MATCHES "\\(SONAME\\)[^[]*\\[([^]]+)\\]")
    message(FATAL_ERROR "${file} is no shared library with a soname, so it cannot be installed with the programs")
  endif()
  set(copy ${FABRICBENCH_BROUGHT_LIBRARIES}/${CMAKE_MATCH_1})
  file(REAL_PATH ${file} real)
  file(COPY_FILE ${real} ${copy} ONLY_IF_DIFFERENT)
  install(PROGRAMS ${copy} DESTINATION ${CMAKE_INSTALL_LIBDIR}/fabricbench)
endfunction()

# fabricbench_link_statically(TARGET NAME): makes the imported TARGET the archive libNAME.a, or brings its shared library.
function(fabricbench_link_statically target name)
  get_target_property(type ${target} TYPE)
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  if(NOT type MATCHES "^(SHARED|UNKNOWN)_LIBRARY$" OR NOT configurations)
    return()
  endif()
  find_library(FABRICBENCH_ARCHIVE_${name} lib${name}.a)
  mark_as_advanced(FABRICBENCH_ARCHIVE_${name})
  foreach(configuration IN LISTS configurations)
    if(FABRICBENCH_ARCHIVE_${name})
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} ${FABRICBENCH_ARCHIVE_${name}})
    endif()
    get_target_property(file ${target} IMPORTED_LOCATION_${configuration})
  endforeach()
  if(FABRICBENCH_ARCHIVE_${name})
    message(STATUS "Linked statically: ${file}")
  else()
    message(STATUS "Installed with the programs: ${file}, because there is no lib${name}.a")
    fabricbench_bring(${file})
  endif()
endfunction()

fabricbench_link_statically(fmt::fmt fmt)
fabricbench_link_statically(simdjson::simdjson simdjson)

# hwloc has plugins, which take the shared library, and most builds of MPI load it too: never a second one in a process.
execute_process(COMMAND ldd ${MPI_CXX_LIBRARIES} OUTPUT_VARIABLE libraries_of_mpi ERROR_QUIET)
if(libraries_of_mpi MATCHES "libhwloc\\.so")
  message(STATUS "Shared with MPI, which loads it too: ${pkgcfg_lib_hwloc_hwloc}")
else()
  message(STATUS "Installed with the programs: ${pkgcfg_lib_hwloc_hwloc}, because this MPI has none")
  fabricbench_bring(${pkgcfg_lib_hwloc_hwloc})
endif()

# The licenses of what the programs contain.
set(licenses
    /usr/share/doc/libcli11-dev/copyright /usr/share/doc/libfmt-dev/copyright /usr/share/doc/libhwloc-dev/copyright
    /usr/share/doc/libsimdjson-dev/copyright /usr/share/doc/nlohmann-json3-dev/copyright
    /usr/share/licenses/cli11-devel/LICENSE /usr/share/licenses/fmt/LICENSE /usr/share/licenses/hwloc-libs/COPYING
    /usr/share/licenses/json-devel/LICENSE.MIT /usr/share/licenses/simdjson/LICENSE)
foreach(license IN LISTS licenses)
  if(EXISTS ${license})
    cmake_path(GET license PARENT_PATH folder)
    cmake_path(GET folder FILENAME package)
    install(FILES ${license} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/fabricbench/licenses RENAME ${package})
  endif()
endforeach()
