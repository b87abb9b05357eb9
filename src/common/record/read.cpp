#include "common/record/read.h"

#include <cmath>
#include <iomanip>
#include <locale>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fabricbench::record {
namespace detail {

std::time_t ReadingVisitor::time_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  std::tm time{};
  stream >> std::get_time(&time, "%Y-%m-%dT%H:%M:%SZ");
  const int day = time.tm_mday;
  const std::time_t seconds = timegm(&time);
  if (stream.fail() || time.tm_mday != day) {  // 30 February is 1 or 2 March
    throw std::invalid_argument(fmt::format("'{}' is not a time such as 2026-01-31T12:00:00Z", text));
  }
  return seconds;
}

std::string none_of(std::string_view word, std::span<const std::string_view> names) {
  return fmt::format("'{}' is none of {} and {}", word, fmt::join(names.first(names.size() - 1), ", "), names.back());
}

double figure_of(Value value) {
  constexpr double kMost = 1e100;
  const double number = value.get_double().value();
  if (std::abs(number) > kMost) throw NoSuchValue(fmt::format("{} is too large for a figure", number));
  return number;
}

std::string_view name_of(Value value) {
  if (value.is_null()) return {};
  if (value.type().value() != simdjson::ondemand::json_type::number) return value.get_string().value();
  const std::string_view token = value.raw_json_token();
  (void)value.get_int64().value();
  return token.substr(0, token.find_last_of("0123456789") + 1);
}

void take_object(void* record, simdjson::ondemand::object object, const std::vector<FieldReader>& readers, Keys keys) {
  std::vector<bool> found(keys == Keys::kAll ? readers.size() : 0);
  std::size_t expected = 0;  // the key expected next: keys usually come in the order in which they are written
  for (auto field : object) {
    const std::string_view key = field.unescaped_key().value();
    for (std::size_t i = 0; i < readers.size(); ++i) {
      const std::size_t place = (expected + i) % readers.size();
      const FieldReader& reader = readers[place];
      if (reader.key != key) continue;
      if (keys == Keys::kAll && found[place]) throw std::invalid_argument(fmt::format("key '{}' is there twice", key));
      if (keys == Keys::kAll) found[place] = true;
      try {
        Value value = field.value();
        if (keys == Keys::kAll && !reader.may_be_null && value.is_null()) {
          throw std::invalid_argument(fmt::format("key '{}' has no value", reader.key));
        }
        reader.take(static_cast<char*>(record) + reader.offset, value, reader);
      } catch (const simdjson::simdjson_error& problem) {
        throw std::invalid_argument(problem.error() == simdjson::INCORRECT_TYPE
                                        ? fmt::format("key '{}' has a value of the wrong type", reader.key)
                                        : fmt::format("at key '{}': {}", reader.key, problem.what()));
      } catch (const NoSuchValue& problem) {
        throw std::invalid_argument(fmt::format("{} {}", reader.key, problem.what()));
      }
      expected = place + 1;
      break;
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i] && !readers[i].may_be_missing) {
      throw std::invalid_argument(fmt::format("key '{}' is missing", readers[i].key));
    }
  }
}

}  // namespace detail

std::string_view LineReader::open(std::string_view line, std::size_t capacity) {
  try {
    document_ = parser_.iterate(line.data(), line.size(), capacity);
    simdjson::ondemand::object object = document_.get_object();
    simdjson::ondemand::value kind;
    const simdjson::error_code problem = object.find_field_unordered("kind").get(kind);
    if (problem == simdjson::NO_SUCH_FIELD) return "";
    if (problem != simdjson::SUCCESS) throw simdjson::simdjson_error(problem);  // the rest of the line cannot be read
    std::string_view name;
    if (kind.get_string().get(name) == simdjson::INCORRECT_TYPE) return "";
    return name;
  } catch (const simdjson::simdjson_error& problem) {
    throw std::invalid_argument(problem.error() == simdjson::INCORRECT_TYPE ? "not a JSON object" : problem.what());
  }
}

std::string_view LineReader::open(std::string_view line) {
  copy_ = simdjson::padded_string(line);
  return open({copy_.data(), copy_.size()}, copy_.size() + kSpare);
}

void LineReader::fill(void* record, const std::vector<detail::FieldReader>& readers, detail::Keys keys) {
  try {
    document_.rewind();
    detail::take_object(record, document_.get_object(), readers, keys);
    if (document_.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      throw std::invalid_argument("text follows the closing brace");
    }
  } catch (const simdjson::simdjson_error& problem) {
    throw std::invalid_argument(problem.what());
  }
}

}  // namespace fabricbench::record
