# What the engine and the CLI need. Optional parts look for their own dependencies in their own folders.
find_package(Boost 1.74 REQUIRED)  # Boost.Graph, header only
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(HDF5 1.10 REQUIRED COMPONENTS C)  # traces on disk
find_package(ZLIB REQUIRED)  # traces of profilers, as they pack them
find_package(LibArchive REQUIRED)  # programs of PyTorch
find_package(yaml-cpp 0.7 REQUIRED)  # workloads of DLIO
