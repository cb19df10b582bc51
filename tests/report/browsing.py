"""A browser without a window, to look at reports with."""

import base64
import json
import os
import shutil

import pytest

from waiting import PATIENCE

webdriver = pytest.importorskip(
    "selenium.webdriver", reason="needs selenium: pip install -e '.[test-browser]'"
)
ActionChains, Keys = webdriver.ActionChains, webdriver.Keys
By = pytest.importorskip("selenium.webdriver.common.by").By
WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait

__all__ = ["Browser", "Keys"]

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Browser:
    """The system's Chromium, with what the tests do in it."""

    def __init__(self, folder):
        paths = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
        lacking = [name for name, path in paths.items() if path is None]
        if lacking:
            reason = f"needs {' and '.join(lacking)}, which this machine does not have"
            if os.environ.get("ELBMF_BROWSER") == "required":
                pytest.fail(reason)
            pytest.skip(reason)
        options = webdriver.ChromeOptions()
        options.binary_location = paths["chromium"]
        for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options, webdriver.ChromeService(paths["chromedriver"]))
        self.driver.set_script_timeout(PATIENCE)
        self.folder = folder

    def quit(self):
        self.driver.quit()

    def open_page(self, html, address=""):
        """Open a page from a file, in a window of a desktop, in light."""
        path = self.folder / "report.html"
        path.write_text(html, encoding="utf-8", errors="strict")
        self.size(1280, 900)
        self.prefer("light")
        self.driver.get("about:blank")
        self.logs()
        self.driver.get(f"{path.as_uri()}{address}")
        self.until("return 'ready' in document.documentElement.dataset")
        return path.as_uri()

    def logs(self):
        """Return what was logged and asked for since the last call."""
        errors = [entry["message"] for entry in self.driver.get_log("browser")]
        messages = (json.loads(e["message"])["message"] for e in self.driver.get_log("performance"))
        requests = [
            each["params"]["request"]["url"]
            for each in messages
            if each["method"] == "Network.requestWillBeSent"
        ]
        return errors, requests

    def size(self, width, height, *, phone=False):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def prefer(self, scheme, media=""):
        # With less motion the page does not glide to where something is clicked.
        wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in wishes.items()]
        emulated = {"media": media, "features": features}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", emulated)

    def allow_scripts(self, allowed):
        disabled = {"value": not allowed}
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", disabled)

    def pdf(self):
        printed = self.driver.execute_cdp_cmd("Page.printToPDF", {})
        return base64.b64decode(printed["data"])

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, script, *arguments):
        """Wait until a script returns something true, and return it."""
        return WebDriverWait(self.driver, PATIENCE, 0.02).until(
            lambda _: self.run(script, *arguments)
        )

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def texts(self, selector):
        script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)"
        return self.run(script, selector)

    def press(self, *keys):
        """Press keys wherever the focus is."""
        ActionChains(self.driver, 0).send_keys(*keys).perform()

    def touch(self, *steps):
        """Touch with fingers: at each step the points where they are; none lifts them."""
        kinds = ["touchStart", *["touchMove"] * (len(steps) - 1)]
        for kind, points in zip(kinds, steps, strict=True):
            fingers = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
            self._touch(kind, fingers)
        self._touch("touchEnd", [])

    def _touch(self, kind, fingers):
        event = {"type": kind, "touchPoints": fingers}
        self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", event)

    def focused(self):
        return self.driver.switch_to.active_element

    def type_into(self, selector, text):
        """Put text into a field at once, as pasting does."""
        script = """const field = document.querySelector(arguments[0]); field.focus();
            field.value = arguments[1]; field.dispatchEvent(new Event("input", {bubbles: true}))"""
        self.run(script, selector, text)

    def at(self, selector, x, y):
        """Begin a movement at a point of an element, counted from its upper left corner."""
        element = self.one(selector)
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        box = element.rect
        dx, dy = round(x - box["width"] / 2), round(y - box["height"] / 2)
        return ActionChains(self.driver, 0).move_to_element_with_offset(element, dx, dy)

    def go(self, address):
        """Open a component or line, and wait until it is shown."""
        self.run("location.hash = arguments[0]", address)
        kind, number = address.split("-")
        self.until(
            "return document.getElementById('detail').dataset.shown === arguments[0]",
            f"{kind}-{number}",
        )

    def picture(self):
        """Return what the canvas of the matrix shows, once it is drawn."""
        return self.driver.execute_async_script(
            """const done = arguments[arguments.length - 1];
            requestAnimationFrame(() => requestAnimationFrame(() =>
              done(document.getElementById("matrix-canvas").toDataURL())))"""
        )

    def other_picture(self, before):
        """Wait for a picture other than one before, and return it."""
        wait = WebDriverWait(self.driver, PATIENCE, 0.02)
        return wait.until(lambda _: (now := self.picture()) != before and now)

    def too_wide(self):
        """Return elements that reach out of the window, but for what others cut off or scroll."""
        return self.run(
            """const outside = (each) => {
              const box = each.getBoundingClientRect();
              return box.right > innerWidth + 1 || box.left < -1;
            };
            const cut = (each) => {
              for (let at = each.parentElement; at !== document.body; at = at.parentElement) {
                if (getComputedStyle(at).overflowX !== "visible" && !outside(at)) return true;
              }
              return false;
            };
            const out = [...document.querySelectorAll("body *:not(.skip, .hidden-text)")]
              .filter((each) => each.getClientRects().length && outside(each) && !cut(each))
              .map((each) => each.outerHTML.slice(0, 120));
            if (document.documentElement.scrollWidth > innerWidth) out.push("the page");
            return out;"""
        )

    def faint(self):
        """Return texts whose contrast with what is behind them is below 4.5."""
        return self.run(
            """const parts = (text) => text.match(/[\\d.]+/g).map(Number);
            const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
              .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
              .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
            const behind = (node) => {
              for (let at = node; at; at = at.parentElement) {
                const colour = parts(getComputedStyle(at).backgroundColor);
                if (colour.length === 3 || colour[3] > 0) return colour;
              }
              return [255, 255, 255];
            };
            const found = [];
            for (const each of document.querySelectorAll("body *")) {
              if (each.closest("#plain, script, svg, canvas")) continue;
              if (!each.getClientRects().length) continue;
              if (![...each.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
              const [a, b] = [parts(getComputedStyle(each).color), behind(each)].map(light);
              const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
              if (contrast < 4.5) found.push([contrast, each.outerHTML.slice(0, 100)]);
            }
            return found;"""
        )
