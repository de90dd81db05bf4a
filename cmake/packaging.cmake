# What an installation consists of, and the Debian package of it (scripts/package). A program looks for its data in ../share/sextant
# (find_data_root in model/io/profile/profile_reader.cpp), so that it may be installed anywhere.
set(installed sextant)
foreach(program sextant-gui sextant-exec-cpu sextant-exec-cuda sextant-data)  # those that could be built
  if(TARGET ${program})
    list(APPEND installed ${program})
  endif()
endforeach()
install(TARGETS ${installed} RUNTIME DESTINATION bin)
install(DIRECTORY hardware_profiles frameworks scenarios lessons measurements calibration DESTINATION share/sextant)
if(TARGET sextant-gui)
  install(FILES packaging/sextant.desktop DESTINATION share/applications)
  install(FILES packaging/sextant.metainfo.xml DESTINATION share/metainfo)  # what software centres show
  install(FILES gui/icons/sextant.svg DESTINATION share/icons/hicolor/scalable/apps)
endif()
install(FILES README.md DESTINATION share/doc/sextant)
install(DIRECTORY docs DESTINATION share/doc/sextant)

set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # what is packaged is built by then; tests and benchmarks are not wanted
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sextant)
set(CPACK_PACKAGE_CONTACT "the authors of Sextant <sextant@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "predicts how fast a deep-learning training job runs")
set(CPACK_PACKAGE_DESCRIPTION "Sextant predicts how fast a training job runs under a parallel plan on given hardware, whether it fits in memory
and what holds it back; searches for the best plan; and runs a plan for real to compare. With its desktop program.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "fonts-roboto-unhinted")  # the letters of the window; libraries are found by themselves
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openmpi-bin")
include(CPack)
