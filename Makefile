# Front door: each target is one call of the tool that does the work.
PREFIX ?= /usr/local

.PHONY: all test install format tidy clean

all:
	cmake --preset release
	cmake --build --preset release

test:
	scripts/test.sh

install: all
	cmake --install build --prefix $(PREFIX)

format:
	find $(wildcard src tests bench) -name '*.cpp' -o -name '*.h' -o -name '*.cu' | xargs clang-format -i

tidy:
	scripts/test.sh --lint

clean:
	cmake -E rm -rf build build-debug
