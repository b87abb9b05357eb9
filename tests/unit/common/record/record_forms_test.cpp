// A type of records of the test's own, described once, in all forms.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "common/core/names.h"
#include "common/core/units.h"
#include "common/record/columns.h"
#include "common/record/field.h"
#include "common/record/json.h"
#include "common/record/packing.h"
#include "common/record/read.h"
#include "common/record/schema.h"

namespace record_forms_test {

enum class Colour { kRed, kGreen };
constexpr auto names_of(Colour) { return std::to_array<std::string_view>({"red", "green"}); }

struct Lamp {
  std::string name;
  double on_for = 0;  // seconds
};

template <typename Visitor, fabricbench::record::Of<Lamp> Record>
void describe(Visitor& visitor, Record& lamp) {
  using namespace fabricbench::record;
  visitor.part("lamp", "One lamp");
  visitor("name", lamp.name, "as it is called");
  visitor("on_for_us", us(lamp.on_for), "how long it was on");
  visitor.derived("is_on", lamp.on_for > 0, "whether it was on at all");
}

struct Panel {
  std::int64_t number = 0;
  Colour colour = Colour::kRed;
  double rate = 0;  // bytes per second
  std::optional<double> latency;
  std::vector<double> samples;
  std::vector<Lamp> lamps;
  std::optional<Lamp> best;
  std::string reason;
  std::time_t finished = 0;
  fabricbench::record::Texts settings;
  int secret = 0;
};

template <typename Visitor, fabricbench::record::Of<Panel> Record>
void describe(Visitor& visitor, Record& panel) {
  using namespace fabricbench::record;
  visitor.line("panel", "After each panel");
  visitor("number", natural(panel.number), "from 0");
  visitor("colour", panel.colour, "of all lamps");
  visitor("rate_gb_per_s", null_if_none(gb_per_s(panel.rate)), "what it carries");
  visitor("latency_us", us(panel.latency), "null: not measured");
  visitor("samples_us", left_out_if_none(us(panel.samples)), "with `--samples`");
  visitor("lamps", panel.lamps, "all of them");
  visitor("best", panel.best, "null: none");
  visitor("reason", name_or_number(null_if_none(panel.reason)), "null: all is well");
  visitor("finished_utc", utc(panel.finished), "");
  visitor("settings", panel.settings, "");
  visitor.internal(panel.secret);
}

Panel full_panel() {
  return {
      3,        Colour::kGreen, 2.5e9,        4e-6, {1e-6, 2e-6}, {{"left", 1e-3}, {"right", 0}}, Lamp{"left", 1e-3},
      "broken", 86400,          {{"a", "1"}}, 7};
}

const char* const kFullLine =
    R"({"kind":"panel","number":3,"colour":"green","rate_gb_per_s":2.5,"latency_us":4.0,"samples_us":[1.0,2.0],)"
    R"("lamps":[{"name":"left","on_for_us":1000.0,"is_on":true},{"name":"right","on_for_us":0.0,"is_on":false}],)"
    R"("best":{"name":"left","on_for_us":1000.0,"is_on":true},"reason":"broken","finished_utc":"1970-01-02T00:00:00Z",)"
    R"("settings":{"a":"1"}})";

TEST(RecordForms, MakeALineOfJson) {
  EXPECT_EQ(fabricbench::record::json_line(fabricbench::record::to_json(full_panel())), std::string(kFullLine) + "\n");
}

TEST(RecordForms, HaveNullOrNothingForWhatIsNotThere) {
  EXPECT_EQ(fabricbench::record::to_json(Panel{}).dump(),
            R"({"kind":"panel","number":0,"colour":"red","rate_gb_per_s":null,"latency_us":null,"lamps":[],)"
            R"("best":null,"reason":null,"finished_utc":"1970-01-01T00:00:00Z","settings":{}})");
}

TEST(RecordForms, ReplaceWhatIsNoUtf8) {
  Panel panel;
  panel.reason = "caf\xe9";
  EXPECT_NE(fabricbench::record::json_line(fabricbench::record::to_json(panel)).find("caf\xef\xbf\xbd"),
            std::string::npos);
}

TEST(RecordForms, ReadALineBack) {
  fabricbench::record::LineReader reader;
  EXPECT_EQ(reader.open(kFullLine), "panel");
  const auto panel = reader.read<Panel>();
  EXPECT_EQ(fabricbench::record::to_json(panel).dump(), kFullLine);
  EXPECT_EQ(panel.secret, 0);  // files do not have it
}

TEST(RecordForms, PassOverKeysThatTheyDoNotKnow) {
  fabricbench::record::LineReader reader;
  EXPECT_EQ(reader.open(R"({"later":{"x":[1,{}]},"colour":"green","number":4,"more":null,"reason":7})"), "");
  const auto panel = reader.read<Panel>();
  EXPECT_EQ(panel.reason, "7");  // a number where a name belongs
  EXPECT_EQ(panel.colour, Colour::kGreen);
  EXPECT_EQ(panel.number, 4);
}

std::string problem_with(const std::string& line) {
  fabricbench::record::LineReader reader;
  try {
    reader.open(line);
    (void)reader.read<Panel>();
  } catch (const std::invalid_argument& problem) {
    return problem.what();
  }
  return "";
}

TEST(RecordForms, NameTheKeyOfAWrongValue) {
  EXPECT_NE(problem_with(R"({"number":"three"})").find("'number'"), std::string::npos);
  EXPECT_NE(problem_with(R"({"colour":"blue"})").find("'blue' is none of red and green"), std::string::npos);
  EXPECT_NE(problem_with(R"({"finished_utc":"today"})").find("'today' is not a time"), std::string::npos);
  EXPECT_EQ(problem_with(R"({"rate_gb_per_s":1e308})"), "rate_gb_per_s 1e+308 is too large for a figure");
  EXPECT_EQ(problem_with(R"({"samples_us":[1,-1e101]})"), "samples_us -1e+101 is too large for a figure");
  EXPECT_EQ(problem_with(R"({"samples_us":[1,1e100]})"), "");
  EXPECT_EQ(problem_with("[1]"), "not a JSON object");
  EXPECT_EQ(problem_with("{} {}"), "text follows the closing brace");
}

TEST(RecordForms, PackEverything) {
  const std::string packed = fabricbench::record::pack(std::vector<Panel>{full_panel(), {}});
  const auto panels = fabricbench::record::unpack<std::vector<Panel>>(packed);
  ASSERT_EQ(panels.size(), 2U);
  EXPECT_EQ(fabricbench::record::to_json(panels[0]).dump(), kFullLine);
  EXPECT_EQ(panels[0].secret, 7);
  EXPECT_THROW((void)fabricbench::record::unpack<std::vector<Panel>>(packed.substr(1)), std::invalid_argument);
  EXPECT_THROW((void)fabricbench::record::unpack<std::vector<Panel>>(packed + "x"), std::invalid_argument);
}

TEST(RecordForms, MakeLinesOfCsv) {
  using fabricbench::record::CsvColumn;
  const fabricbench::record::CsvTable table(std::to_array<CsvColumn>(
      {{"number"}, {"first", "/lamps/0/name"}, {"is_on", "/best/is_on"}, {"third", "/lamps/2"}}));
  EXPECT_EQ(table.header(), "number,first,is_on,third\n");
  EXPECT_EQ(table.line(fabricbench::record::to_json(full_panel())), "3,left,1,\n");
}

TEST(RecordForms, MakeTextsOfCsvHarmless) {
  using fabricbench::record::csv_text;
  for (const char* text : {"node01", "node01.example.org", "a b", "3-4", ""}) EXPECT_EQ(csv_text(text), text);
  EXPECT_EQ(csv_text("a,\"b\""), "\"a,\"\"b\"\"\"");
  EXPECT_EQ(csv_text("=1+1"), "'=1+1");
  EXPECT_EQ(csv_text("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
  for (const char* text : {"+1", "-1", "@SUM(A1)"}) EXPECT_EQ(csv_text(text), std::string("'") + text);
  EXPECT_EQ(csv_text("\x1b[31mred"), "\uFFFD[31mred");
  EXPECT_EQ(csv_text("two\nlines\t"), "two\uFFFDlines\uFFFD");
}

TEST(RecordForms, MakeLinesOfATable) {
  using namespace fabricbench::record;
  const TextTable table({{"number", "", 8, field("/number")},
                         {"rate", "(GB/s)", 6, field("/rate_gb_per_s")},
                         {"rate", "(Gb/s)", 6, scaled(field("/rate_gb_per_s"), 8)},
                         {"second", "(us)", 6, positive(field("/lamps/1/on_for_us")), "off"},
                         {"reason", "", 0, field("/reason")}},
                        fabricbench::fitted);
  EXPECT_EQ(table.titles(), "# number    rate    rate  second  reason\n");
  EXPECT_EQ(table.units(), "#         (GB/s)  (Gb/s)    (us)  \n");
  EXPECT_EQ(table.line(to_json(full_panel())), "       3    2.50   20.00     off  broken\n");
  EXPECT_EQ(table.line(to_json(Panel{})), "       0       -       -     off  -\n");
}

TEST(RecordForms, DescribeThemselves) {
  fabricbench::record::Descriptions all;
  fabricbench::record::add_description<Panel>(all);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "lamp");
  const auto schema = fabricbench::record::schema_of(all);
  EXPECT_EQ(schema["oneOf"].dump(), R"([{"$ref":"#/definitions/panel"}])");
  const auto& panel = schema["definitions"]["panel"];
  EXPECT_EQ(panel["properties"]["kind"].dump(), R"({"const":"panel"})");
  EXPECT_EQ(panel["properties"]["colour"]["enum"].dump(), R"(["red","green"])");
  EXPECT_EQ(panel["properties"]["rate_gb_per_s"]["type"].dump(), R"(["number","null"])");
  EXPECT_EQ(panel["properties"]["best"].dump(),
            R"({"anyOf":[{"$ref":"#/definitions/lamp"},{"type":"null"}],"description":"null: none"})");
  const auto required = panel["required"].get<std::vector<std::string>>();
  EXPECT_EQ(std::count(required.begin(), required.end(), "samples_us"), 0);
  EXPECT_EQ(std::count(required.begin(), required.end(), "best"), 1);
  EXPECT_NE(fabricbench::record::table_of(all[1]).find("| `latency_us` | us or null | null: not measured |"),
            std::string::npos);
}

}  // namespace record_forms_test
