# make evrard     install what is missing, build, run the Evrard collapse on 2 ranks, validate it
# make check      format, lints and unit tests, in the profile dev: a minute on two cores after a small change
# make test       everything that is checked before a change is accepted
# make gpu-test   the GPU path on a GPU, against the processor and under compute-sanitizer (needs the CUDA toolkit)
# make mutants    a build with planted faults: the test cases must find each (15 minutes and a second build)
# make validate   all test cases at several sizes, and the runs of docs/src/evrard.md: one page (hours)
# make validate-molecules   long runs of molecules: conservation, thermostats, published values (an hour)
# make peers      GROMACS and LAMMPS, installed where missing, and hilbrium in turns on the same cores (40 minutes)
# make cores      what two cores make of one, by threads and by ranks (11 minutes)
# make gas-table  what kernels, neighbors and formulations make of the gas cases, and the table of the book (hours)
# make error-cost   error over core seconds for several settings of the gas, one picture (hours)
# make soak       24,000 steps of a gas with gravity and of a liquid: memory flat, energies sane (minutes)
# make fresh      make evrard and make test on a bare Debian 13, as root and as a user (needs root and debootstrap; hours)
# make dist       what to hand on: a tar archive and a Debian package in out/dist, with their SHA-256
# make wheel      the Python package in out/wheels, without MPI and with HDF5 inside (15 minutes)
# make wheel-test the package in a new environment: against the program, and its tutorial
# make docs       the book in docs/book and the crate's documentation in target/doc

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
.DEFAULT_GOAL := evrard
.PHONY: evrard build check test gpu-test mutants validate validate-molecules peers cores gas-table error-cost soak fresh dist wheel wheel-test docs packages clean

RANKS ?= 2
PROGRAM := target/release/hilbrium
RESULTS ?= out/evrard

# Where Debian and Ubuntu put parallel HDF5, by architecture.
export HDF5_DIR ?= /usr/lib/$(or $(shell gcc -print-multiarch 2>/dev/null),$(shell uname -m)-linux-gnu)/hdf5/openmpi

# Open MPI, 4 and 5: in a container everyone is root, has fewer cores than ranks, and may not read the memory of
# another process. Unbound ranks leave the threads of each rank to the program.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export PRTE_ALLOW_RUN_AS_ROOT := 1
export PRTE_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export OMPI_MCA_rmaps_base_oversubscribe := 1
export PRTE_MCA_rmaps_default_mapping_policy := :oversubscribe
export OMPI_MCA_btl_vader_single_copy_mechanism := none
export OMPI_MCA_mpi_yield_when_idle := 1
MPIRUN := mpirun --bind-to none

evrard: build
	$(MPIRUN) -n $(RANKS) $(PROGRAM) run inputs/evrard.toml \
	    --set output.directory=$(RESULTS) --set output.overwrite=true
	@scripts/verdict $(PROGRAM) $(RESULTS)

build: packages
	cargo build --release --locked

packages:
	@scripts/packages

# Test programs are linted here and run by make test. The profile dev compiles incrementally.
check: packages
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	cargo test --workspace --lib --locked --quiet

test: packages
	@scripts/test

# A test program that cargo has built elsewhere: scripts/gpu-test target/release/deps/device-...
gpu-test: packages
	@scripts/gpu-test

# Options of the script: make mutants MUTANTS="--faults pair-lost,grad-h-missing"
MUTANTS ?=
mutants: packages
	cargo clippy --features faults --target-dir target/faults --locked --quiet -- -D warnings
	cargo build --release --features faults --target-dir target/faults --locked
	@scripts/venv && .venv/bin/python -m pip install --quiet -r tests/python/requirements.txt
	@.venv/bin/python scripts/mutants target/faults/release/hilbrium $(MUTANTS)

validate: build
	@MPIRUN="$(MPIRUN)" RANKS=$(RANKS) scripts/validate $(PROGRAM)

validate-molecules: build
	@MPIRUN="$(MPIRUN)" RANKS=$(RANKS) scripts/validate-molecules $(PROGRAM)

# Options of the script: make peers PEERS="--repeats 1 --systems liquid-32k"
PEERS ?=
peers: build
	@MPIRUN="$(MPIRUN)" scripts/peers $(PROGRAM) $(PEERS)

# Options of the script: make cores CORES="--turns 7 --systems liquid-32k"
CORES ?=
cores: build
	@MPIRUN="$(MPIRUN)" scripts/cores $(PROGRAM) $(CORES)

# The settings of the gas: every case for every setting, and the table of docs/src/gas-settings.md (hours; GAS="--jobs 16 --option run.device=cuda")
GAS ?=
gas-table: build
	@scripts/venv && .venv/bin/python -m pip install --quiet -r tests/python/requirements.txt
	@.venv/bin/python scripts/gas-table --program $(PROGRAM) --cost sinc-6/100 --page docs/src/gas-settings.md $(GAS)

# Error over core seconds on Gresho, Sod and Evrard, and its picture (hours; ERROR_COST="--jobs 16 --small")
ERROR_COST ?=
error-cost: build
	@scripts/venv && .venv/bin/python -m pip install --quiet -r tests/python/requirements.txt
	@.venv/bin/python scripts/error-cost $(PROGRAM) out/error-cost $(ERROR_COST)

soak: build
	@scripts/soak $(PROGRAM)

# Another release and options of the script: make fresh RELEASE=bookworm FRESH="--users root --keep"
RELEASE ?= trixie
FRESH ?=
fresh:
	@scripts/fresh $(RELEASE) $(FRESH)

dist: build
	@scripts/dist $(PROGRAM)

wheel:
	@scripts/wheel

wheel-test: build
	@scripts/wheel --test

docs: packages
	cargo doc --release --no-deps --workspace --locked
	@scripts/book

clean:
	cargo clean
	rm -rf out .venv docs/book
