"""Reports in Chromium, without a network: hovering, sorting, filtering, looking up, both colour schemes, and print."""

import base64
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from launch import TIMEOUT_S, wait_until
from reporting import NASTY, Reporting, acceptance_run, all_pairs, context, end, finding, measurement, row, rows, run, slow_links

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MAP = "figure.plot .canvas.map"
HOSTS = "Hosts as senders and receivers, GB/s"


def what_is_missing():
    """None: nothing."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "python3-selenium is not installed"
    if not any(map(shutil.which, BROWSERS)):
        return "there is no Chromium on the PATH"
    return None if shutil.which("chromedriver") else "there is no chromedriver on the PATH"


def start_browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = next(filter(None, map(shutil.which, BROWSERS)))
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,1000",
                     "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND"):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


@unittest.skipIf(what_is_missing(), what_is_missing())
class Browser(Reporting):  # 1 rank, 30 s

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fabricbench-report-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.driver = start_browser()
        cls.addClassCleanup(cls.driver.quit)
        cls.driver.set_script_timeout(TIMEOUT_S)
        cls.driver.execute_cdp_cmd("Network.enable", {})
        cls.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": True, "latency": 0, "downloadThroughput": 0,
                                                                        "uploadThroughput": 0})  # fmt: skip

    def setUp(self):
        super().setUp()
        self.addCleanup(lambda: self.assertEqual(self.driver.get_log("browser"), []))  # no error, no warning

    def open(self, *results):
        """A report on these, made as a user makes it, with all its plots drawn."""
        made = self.launch_report(*results, "-o", self.page)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.show(self.page)

    def open_acceptance(self):
        page = self.folder / "report.html"
        if not page.exists():
            self.assertEqual(self.launch_report(acceptance_run(self.folder / "results"), "-o", page).returncode, 0)
        self.show(page)

    def show(self, page):
        self.driver.get(page.as_uri())
        wait_until(lambda: self.script("""return document.readyState === "complete" &&
            [...document.querySelectorAll("figure.plot")].every((plot) => plot.dataset.drawn)"""), "not all plots are drawn")

    def script(self, words, *arguments):
        return self.driver.execute_script(words, *arguments)

    def find(self, css):
        return self.driver.find_element("css selector", css)

    def table(self, caption):
        """The table, unfolded."""
        return self.script("""const table = [...document.querySelectorAll("table")].find(
            (one) => one.caption.textContent === arguments[0]); table.closest("details").open = true; return table""", caption)

    def column(self, table, title):
        return self.script("""const at = [...arguments[0].tHead.rows[0].cells].findIndex((cell) => cell.textContent.trim() === arguments[1]);
            return [...arguments[0].tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.cells[at].textContent.trim())""",
                           table, title)  # fmt: skip

    def heading(self, table, title):
        return next(one for one in table.find_elements("css selector", "th button") if one.text.strip() == title)

    def hover(self, canvas, x, y):
        """Moves the pointer to a place of the plot, from 0 to 1. Returns what the plot says."""
        from selenium.webdriver.common.action_chains import ActionChains

        left, top = self.script("""arguments[0].scrollIntoView({block: "center"}); const {xaxis, yaxis} = arguments[0]._fullLayout;
            const box = arguments[0].getBoundingClientRect(); return [box.left + xaxis._offset + arguments[1] * xaxis._length,
            box.top + yaxis._offset + arguments[2] * yaxis._length]""", canvas, x, y)  # fmt: skip
        moves = ActionChains(self.driver, duration=0)
        moves.w3c_actions.pointer_action.move_to_location(round(left) + 3, round(top) + 3)
        moves.w3c_actions.pointer_action.move_to_location(round(left), round(top))
        moves.perform()
        return wait_until(lambda: self.script("return arguments[0].querySelector('.hoverlayer').textContent", canvas),
                          "the plot says nothing")  # fmt: skip

    def test_hovering_tells_the_figure(self):
        self.open_acceptance()
        cell = (2.5 / 8, 1.5 / 8)  # the third sender, the second receiver
        self.assertEqual(self.hover(self.find(MAP), *cell), "node03 to node02: 7.100 GB/s")
        canvas = self.find("#curves .canvas")
        x, y = self.script("""const {xaxis, yaxis} = arguments[0]._fullLayout, line = arguments[0].data.find((one) => one.name === "in place");
            return [xaxis.d2p(line.x[3]) / xaxis._length, yaxis.d2p(line.y[3]) / yaxis._length]""", canvas)  # fmt: skip
        self.assertRegex(self.hover(canvas, x, y), r"^in place, 4 KiB: \S+ GB/s, 95 % interval \S+ to \S+$")

    def test_tables_sort_by_mouse_and_keyboard(self):
        from selenium.webdriver.common.keys import Keys

        self.open_acceptance()
        table = self.table(HOSTS)
        title = "sends, median"
        heading = self.heading(table, title)
        heading.click()
        figures = [float(text) for text in self.column(table, title)]
        self.assertEqual(figures, sorted(figures))
        self.assertEqual(self.column(table, "host")[0], "node03")
        self.assertEqual(heading.find_element("xpath", "..").get_attribute("aria-sort"), "ascending")
        heading.send_keys(Keys.ENTER)
        self.assertEqual([float(text) for text in self.column(table, title)], sorted(figures, reverse=True))
        self.assertEqual(heading.find_element("xpath", "..").get_attribute("aria-sort"), "descending")
        self.heading(table, "host").send_keys(Keys.SPACE)
        self.assertEqual(self.column(table, "host"), [f"node{number:02}" for number in range(1, 9)])
        sorted_by = [one.get_attribute("aria-sort") for one in table.find_elements("css selector", "th")]
        self.assertEqual(sorted_by.count("none"), len(sorted_by) - 1)

    def test_unknown_numbers_come_last(self):
        self.open_acceptance()
        table = self.table("Steps of the acceptance run")
        for _ in range(2):
            self.heading(table, "exit status").click()
            self.assertEqual(self.column(table, "exit status"), ["6", "\N{EN DASH}"])

    def test_tables_filter(self):
        self.open_acceptance()
        table = self.table(HOSTS)
        details = table.find_element("xpath", "ancestor::details")
        field = details.find_element("css selector", "input[type=search]")
        field.send_keys("LEAF2 bibw")
        self.assertEqual(self.column(table, "host"), ["node05", "node06", "node07", "node08"])
        self.assertEqual(details.find_element("css selector", "output").text, "4 of 8 rows")
        self.assertEqual(field.get_attribute("aria-controls"), table.get_attribute("id"))
        self.script("arguments[0].value = ''; arguments[0].dispatchEvent(new Event('input'))", field)
        self.assertEqual(len(self.column(table, "host")), 8)

    def test_pairs_are_looked_up(self):
        self.open_acceptance()
        sender, receiver, output = (self.find(f".lookup {css}") for css in (".sender", ".receiver", "output"))
        for one, other, said in (("node02", "node05", "node02 to node05: 3.3 GB/s"), ("node07", "node08", "node07 to node08: no figure"),
                                 ("node02", "nobody", "there is no nobody")):  # fmt: skip
            for field, name in ((sender, one), (receiver, other)):
                field.clear()
                field.send_keys(name)
            self.assertEqual(output.text, said)

    def test_another_view_is_chosen(self):
        from selenium.webdriver.support.ui import Select

        self.open_acceptance()
        figure = self.find("#curves figure.plot")
        title = "return arguments[0].querySelector('.ytitle').textContent"
        self.assertEqual(self.script(title, figure), "bus bandwidth (GB/s)")
        Select(figure.find_element("css selector", "select")).select_by_visible_text("time")
        wait_until(lambda: self.script(title, figure) == "time of one operation (us)", "the view did not change")

    def test_light_and_dark(self):
        self.open_acceptance()
        colours = {}
        for scheme in ("dark", "light"):
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                        {"features": [{"name": "prefers-color-scheme", "value": scheme}]})  # fmt: skip
            page = self.script("return getComputedStyle(document.body).backgroundColor")
            wait_until(lambda: self.script("""return [...document.querySelectorAll(".main-svg[style*=background]")].every(
                (plot) => getComputedStyle(plot).backgroundColor === arguments[0])""", page), f"a plot is not {scheme}")
            colours[scheme] = page
        self.assertEqual(colours, {"dark": "rgb(20, 23, 27)", "light": "rgb(255, 255, 255)"})

    def test_names_in_bars_can_be_read(self):
        """Contrast as WCAG has it."""
        def luminance(colour):
            parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
            red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue

        self.open_acceptance()
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"features": []})
        for scheme in ("dark", "light"):
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                        {"features": [{"name": "prefers-color-scheme", "value": scheme}]})  # fmt: skip
            pairs = self.script("""return [...document.querySelectorAll("#nics .point")].map((bar) => [".bartext", "path"].map(
                (part) => getComputedStyle(bar.querySelector(part)).fill))""")
            self.assertEqual(len(pairs), 32)
            for text, bar in pairs:
                low, high = sorted(map(luminance, (text, bar)))
                self.assertGreater((high + 0.05) / (low + 0.05), 4.5, f"{scheme}: {text} on {bar}")

    def test_narrow_plots_cut_nothing_off(self):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": 600, "height": 900, "deviceScaleFactor": 1, "mobile": False})  # fmt: skip
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        hosts = [f"gpu-node-rack{number:02}-chassis3.cluster.example.org" for number in range(64)]
        self.open(self.write("pairs.jsonl", all_pairs(hosts)), self.write("run.jsonl", run(row(out=measurement(ranks=16)), hosts=hosts[:16])))
        self.assertEqual(self.script("""return [...document.querySelectorAll(".annotation-text")].filter((text) => {
            const [inner, outer] = [text, text.closest(".canvas")].map((one) => one.getBoundingClientRect());
            return inner.left < outer.left || inner.right > outer.right}).map((text) => text.textContent)"""), [])
        map_, boxes = self.script("""return ["#pairs .map", "#pairs .canvas:not(.map)"].map((css) => {
            const canvas = document.querySelector(css); return [canvas.clientWidth, canvas.clientHeight, canvas._fullLayout._size.h]})""")
        self.assertLessEqual(map_[1], map_[0])
        self.assertGreater(boxes[2], 150)

    def test_marks_of_changes_are_apart_from_names(self):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": 600, "height": 900, "deviceScaleFactor": 1, "mobile": False})  # fmt: skip
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        self.open_acceptance()
        mark, names = self.script("""return [".annotation-text", ".legend"].map((css) =>
            document.querySelector(`#history ${css}`).getBoundingClientRect().toJSON())""")
        self.assertGreaterEqual(mark["top"], names["bottom"])

    def test_nothing_is_wider_than_a_phone(self):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})  # fmt: skip
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        self.open_acceptance()
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 390)

    def many_series(self, count):
        """Groups whose names are long and differ only in the middle."""
        groups = [{"ranks": f"{number}, {number + 1}", "ports": None, "round": 0, "hosts": ", ".join(
            f"gpu-node-rack{of_pair:02}-chassis3.cluster.example.org" for of_pair in (number, number + 1))} for number in range(count)]
        lines = [{**line, "group": number} for number in range(count) for line in rows(gb_per_s=20 - number / 4)]
        return self.write("many.jsonl", [context(groups=groups, program="multi_pair_bw", figure="bandwidth"), *lines, end()])

    def box(self, css):
        """(left, top, right, bottom) within the canvas of the curves; None: there is no such element."""
        return self.script("""const element = document.querySelector(`#curves .canvas ${arguments[0]}`);
            if (!element) return null; const box = element.getBoundingClientRect();
            const canvas = document.querySelector("#curves .canvas").getBoundingClientRect();
            return [box.left - canvas.left, box.top - canvas.top, box.right - canvas.left, box.bottom - canvas.top]""", css)  # fmt: skip

    def test_buttons_and_names_have_places_of_their_own(self):
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        for width in (1200, 390):
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == 390})  # fmt: skip
            for count in (4, 14):
                with self.subTest(width=width, series=count):
                    self.open(self.many_series(count), "--force")
                    self.check_places(has_buttons=width == 1200)

    def check_places(self, has_buttons):
        bar, legend = self.box(".modebar"), self.box(".legend")
        self.assertEqual(bar is not None, has_buttons)
        if has_buttons:
            above = self.script("""const [choice, canvas] = ["choice", "canvas"].map(
                (name) => document.querySelector(`#curves .${name}`).getBoundingClientRect()); return choice.bottom - canvas.top""")
            self.assertGreaterEqual(bar[1], above)
            self.assertLessEqual(bar[3], min(0, legend[1]))
        width, plot = self.script("""const canvas = document.querySelector("#curves .canvas"), {l, t, w, h} = canvas._fullLayout._size;
            return [canvas.clientWidth, [l, t, l + w, t + h]]""")
        self.assertGreaterEqual(legend[0], 0)
        self.assertLessEqual(legend[2], width + 1)
        self.assertTrue(legend[3] <= plot[1] or legend[0] >= plot[2], f"names at {legend}, plot at {plot}")
        self.assertGreater(plot[2] - plot[0], 200)
        self.assertGreater(plot[3] - plot[1], 200)

    def test_print_has_all_plots(self):
        self.open_acceptance()
        self.script("""window.widths = []; addEventListener("beforeprint", () => {
            window.widths = [...document.querySelectorAll(".canvas")].map((canvas) => canvas._fullLayout.width); })""")
        printed = base64.b64decode(self.driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
        self.assertTrue(printed.startswith(b"%PDF"))
        self.assertEqual(set(self.script("return window.widths")), {680})
        self.assertGreater(len(self.script("return window.widths")), 8)

    def test_nothing_is_fetched_and_keys_reach_all(self):
        from selenium.webdriver.common.keys import Keys

        self.open_acceptance()
        self.assertEqual(self.script("return performance.getEntriesByType('resource').length"), 0)
        self.find("body").send_keys(Keys.TAB)
        self.assertEqual(self.script("return document.activeElement.textContent"), "Skip to the verdict")
        self.driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.assertEqual(self.script("return document.activeElement.id"), "verdict")
        self.assertEqual(self.script("""return [...document.querySelectorAll("input, select")].filter(
            (field) => !field.labels.length && !field.ariaLabel).length"""), 0)

    def test_names_are_shown_as_text(self):
        name = "<img src=x onerror=a()>"  # short enough for the axis
        lines = all_pairs([name, "b"]) + [slow_links(finding("host", [name], text=NASTY), headline=NASTY, order=[name, "b"])]
        self.open(self.write("pairs.jsonl", lines), self.write("run.jsonl", [context([NASTY], 2), *rows(), end()]))
        self.assertEqual(self.hover(self.find(MAP), 0.25, 0.75), f"{name} to b: 12.00 GB/s")
        self.assertEqual(self.script("return document.querySelectorAll('img, main script:not([type])').length"), 0)
        for field, end_of_pair in ((".sender", name), (".receiver", "b")):
            self.find(f".lookup {field}").send_keys(end_of_pair)
        self.assertEqual(self.find(".lookup output").text, f"{name} to b: 12 GB/s")
