// Where a fake tells tests/faults/faulty_calls.cpp of its calls, which may have one fail, delay it or never return.
#pragma once

/// There if that library is loaded. Not 0: this call is to do nothing and to return an error.
extern "C" [[gnu::weak]] int faulty_call_fails(const char* function);

/// To be asked first thing in each function; by itself, the name is that of the one that asks.
inline bool fails(const char* function = __builtin_FUNCTION()) {
  return faulty_call_fails != nullptr && faulty_call_fails(function) != 0;
}
