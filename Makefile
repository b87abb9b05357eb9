# Front door: each target is one call of the tool that does the work.
PREFIX ?= /usr/local

.PHONY: all test test-rdma test-cluster faults faults-network soak fuzz mutants simulate install records format tidy clean

all:
	cmake --preset release
	cmake --build --preset release

test:
	scripts/test.sh

test-rdma:
	scripts/test.sh --all --only rdma

# Rewrites the tables of docs/slow-links-method.md.
simulate:
	cmake --preset ci
	cmake --build --preset ci --target simulate_fabric
	tests/simulation/simulate.py --build build

# Sweeps over 16 hosts made of network namespaces, with planted faults: half an hour.
test-cluster: all
	tests/cluster/complete.sh build

# Every call of every function goes wrong once, in every program: takes days, and goes on where it was broken off. With
# FAULTS="--sample 1000 --seed 7", or "--program tcp_bw --function send", a part of it.
faults:
	cmake --preset ci
	cmake --build --preset ci --target programs test_programs_on_fakes faulty_calls fabricbench_verbs_between_processes
	FABRICBENCH_PROGRAMS=build FABRICBENCH_PROGRAMS_ON_FAKES=build/tests/programs/on_fakes FABRICBENCH_FAULTY_CALLS=build/tests/libfaulty_calls.so \
	FABRICBENCH_VERBS_BETWEEN_PROCESSES=build/tests/libfabricbench_verbs_between_processes.so \
	    tests/faults/campaign.py --table build/faults.tsv --resume --page docs/reliability.md $(FAULTS)

# Hosts, links and files go wrong while each program runs over hosts made of network namespaces: half an hour.
faults-network: all
	FABRICBENCH_PROGRAMS=build tests/faults/network_faults.py --table build/network_faults.tsv --page docs/reliability.md \
	    $(FAULTS)

# All programs in rotation over such hosts, with faults in between: half an hour. SOAK="--minutes 300 --seed 7" for more.
soak: all
	FABRICBENCH_PROGRAMS=build tests/faults/soak.py --table build/soak.tsv $(SOAK)

# Random input for everything that reads what comes from outside: ten minutes for each reader.
fuzz:
	scripts/fuzz.sh

# Whether the tests notice changes of the sources: takes hours, and goes on where it was broken off.
mutants:
	python3 -m venv build-mutants/venv
	build-mutants/venv/bin/pip install --quiet universalmutator
	build-mutants/venv/bin/python scripts/mutants.py

install: all
	cmake --install build --prefix $(PREFIX)

# Rewrites docs/output.schema.json, the tables of docs/output.md and scripts/constants.{sh,py} from the programs' sources.
records:
	cmake --preset release
	cmake --build --preset release --target records

format:
	find $(wildcard src tests bench) -name '*.cpp' -o -name '*.h' -o -name '*.cu' | xargs clang-format -i

tidy:
	scripts/test.sh --lint

clean:
	cmake -E rm -rf build build-debug build-fuzz build-mutants build-tidy
