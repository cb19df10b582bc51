"""Takes the pictures of reports in these pages: ``python docs/screenshots.py roles.html …``.

The reports are those that the examples make; their pictures go to ``screens``. Needs Chromium, its
driver and selenium; the pictures are committed because the build does without.
"""

import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from selenium import webdriver

_SCREENS = Path(__file__).parent / "screens"
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--window-size=1440,980",
)
_COMPONENT = 2


def main(profile: str, reports: list[str]) -> None:
    """Show the matrix of each report, with a component beside it."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        for report in map(Path, reports):
            driver.get(f"{report.resolve().as_uri()}#component-{_COMPONENT}")
            for action in ("", "document.getElementById('matrix').scrollIntoView();"):
                driver.execute_async_script(f"{action} setTimeout(arguments[0], 1000)")
            picture = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
            colours = picture.quantize(256, Image.Quantize.MAXCOVERAGE)
            colours.save(_SCREENS / f"{report.stem}.png", optimize=True)
    finally:
        driver.quit()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(folder, sys.argv[1:])
