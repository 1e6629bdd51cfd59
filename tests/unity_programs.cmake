# MUSTER_UNITY_TESTS=ON: few programs, made of unity batches.

# Takes from a list of tests those that draw random cases: only they run long enough to gain from
# optimisation.
function(muster_split_random tests random)
  set(found)
  foreach(test IN LISTS ${tests})
    file(STRINGS ${test} draws LIMIT_COUNT 1 REGEX "support/(cases|settings)\\.hpp")
    if(draws)
      list(APPEND found ${test})
    endif()
  endforeach()
  if(found)
    list(REMOVE_ITEM ${tests} ${found})
  endif()
  set(${tests} "${${tests}}" PARENT_SCOPE)
  set(${random} "${found}" PARENT_SCOPE)
endfunction()

muster_split_random(muster_core_tests muster_core_random_tests)
muster_unit_tests(core_tests CORE SOURCES ${muster_core_tests} ${muster_odr_sources}
                             LINKS muster::muster)
if(muster_core_random_tests)
  muster_unit_tests(core_random_tests CORE OPTIMISE -O1 SOURCES ${muster_core_random_tests}
                                      LINKS muster::muster)
endif()
if(muster_program_tests)
  list(APPEND muster_door_tests ${muster_program_tests})
  list(SORT muster_door_tests)
  list(APPEND muster_door_links muster_print)
endif()
if(muster_door_tests)
  muster_split_random(muster_door_tests muster_door_random_tests)
  muster_unit_tests(door_tests SOURCES ${muster_door_tests} LINKS ${muster_door_links})
  if(muster_door_random_tests)
    muster_unit_tests(door_random_tests OPTIMISE -O1 SOURCES ${muster_door_random_tests}
                                        LINKS ${muster_door_links})
  endif()
endif()
if(muster_api_server_tests)
  muster_unit_tests(api_server_tests SOURCES ${muster_api_server_tests}
                                     LINKS ${muster_api_server_links})
endif()
if(muster_kube_tests)
  muster_unit_tests(kube_tests SOURCES ${muster_kube_tests} LINKS ${muster_kube_links})
endif()
