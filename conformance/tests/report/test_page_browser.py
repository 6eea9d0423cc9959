"""The HTML page in headless Chromium: what a reader sees and does. `make page` keeps the pictures."""

import os
import sys
import time
from pathlib import Path

import chromium
import pytest
import samples
from ep_conformance.report.file import read_report
from ep_conformance.report.page import write_page

pytestmark = pytest.mark.skipif(chromium.PROGRAM is None, reason="no Chromium here: apt-get install chromium")

COUNT = "document.getElementById('filter-count').textContent"
HASH = "decodeURIComponent(location.hash)"
ROWS = "[...document.querySelectorAll('.case-row')].map(row => row.querySelector('.column-id').textContent)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("page")
    write_page(samples.every_kind(), place / "every.html")
    return place


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = chromium.Chromium(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture
def page(browser, folder):
    """Open the page of every kind of verdict, and hold it to what no page may do."""
    browser.window(1280, 900)
    browser.events.clear()
    browser("Page.navigate", url="about:blank")
    browser.open((folder / "every.html").as_uri())
    yield browser
    browser.ask("0")
    assert faults(browser) == []


def faults(browser):
    """Return what the browser reported that must not be: errors, warnings, requests beyond the page itself."""
    found = []
    for method, params in browser.events:
        if method in {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}:
            found.append((method, params))
        if method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file:", "data:,")):
            found.append((method, params["request"]["url"]))
    return found


def test_page_opens_without_errors_or_requests(page):
    assert page.ask("document.querySelector('h1').textContent").split() == [
        *("FAIL", "toy", "1.2", "on", "toy:0,", "Abacus", "|", "Two")
    ]
    assert page.ask(COUNT) == f"{len(samples.every_kind().verdicts)} cases"
    requests = [params["request"]["url"] for method, params in page.events if method == "Network.requestWillBeSent"]
    assert [url.rsplit("/", 1)[1] for url in requests] == ["every.html"]


def test_policy_stops_what_would_go_out(page, folder):
    page.ask("fetch('https://example.com/').then(() => 0, () => 1)")
    page.ask(
        "new Promise(done => { const i = new Image(); i.onerror = i.onload = done; i.src = 'https://example.com/x.png'; })"
    )
    page.ask("0")
    assert not [1 for method, _ in page.events if method == "Network.responseReceived" and "example" in str(_)]
    blocked = [params for method, params in page.events if method == "Log.entryAdded"]
    assert len(blocked) >= 2
    assert all("Content Security Policy" in each["entry"]["text"] for each in blocked)
    page.events.clear()


def test_attack_in_a_text_is_inert(page):
    assert page.ask("document.title").startswith("FAIL: toy on toy:0")
    page.ask("go({ text: 'far' })")
    page.ask("choose(0)")
    assert "</script><script>document.title='pwned'" in page.ask("document.getElementById('detail').textContent")
    assert page.ask("document.querySelectorAll('img, main script').length") == 0
    assert page.ask("document.title").startswith("FAIL: toy on toy:0")


def test_place_of_the_matrix_filters(page):
    page.ask("document.querySelector('#matrix-table button[aria-label^=\"reduce, float32\"]').click()")
    assert page.ask(HASH) == "#family=reduce&type=float32"
    reduce = [verdict.id for verdict in samples.every_kind().verdicts if verdict.id.startswith("primitives/reduce/")]
    assert sorted(page.ask(ROWS)) == sorted(reduce)
    assert page.ask(COUNT) == f"{len(reduce)} of {len(samples.every_kind().verdicts)}"


def test_family_opens_into_its_ops(page):
    assert page.ask("document.querySelectorAll('#matrix-table tr.op').length") == 0
    page.ask("[...document.querySelectorAll('.opener')].find(node => node.textContent === 'reduce').click()")
    assert page.ask("document.querySelector('#matrix-table tr.op th').textContent") == "sum"
    assert page.ask("document.activeElement.getAttribute('aria-expanded')") == "true"


def test_matrix_by_layout(page):
    page.ask(
        "[...document.querySelectorAll('#matrix-switch button')].find(node => node.textContent === 'layout').click()"
    )
    heads = page.ask("[...document.querySelectorAll('#matrix-table thead th')].map(node => node.textContent)")
    assert heads == ["family", "dense", "strided", "rank0", "all"]


def test_arrows_move_in_the_matrix(page):
    page.ask("document.querySelector('#matrix-table button.place').focus()")
    before = page.ask("document.activeElement.getAttribute('aria-label')")
    page.press("ArrowRight")
    after = page.ask("document.activeElement.getAttribute('aria-label')")
    assert before != after
    assert page.ask("document.querySelectorAll('#matrix-table button.place[tabindex=\"0\"]').length") == 1


def test_typing_filters_and_the_address_holds_it(page):
    page.ask("document.querySelector('[name=text]').focus()")
    page("Input.insertText", text="known")
    page.until(f"{COUNT}.startsWith('1 of')")
    assert page.ask(HASH) == "#text=known"
    assert page.ask(ROWS) == ["primitives/reduce/sum/float32/dense/known"]
    page.ask("document.querySelector('[name=clear]').click()")
    assert page.ask(COUNT).endswith("cases")


def test_address_is_a_view(page, folder):
    page("Page.navigate", url="about:blank")
    page.open(f"{(folder / 'every.html').as_uri()}#status=waived&family=reduce")
    assert page.ask(ROWS) == ["primitives/reduce/sum/float32/dense/known"]
    assert page.ask("document.querySelector('.chip[aria-pressed=true]').textContent") == "waived1"


def test_chips_and_selects_narrow_each_other(page):
    page.ask("[...document.querySelectorAll('.chip')].find(node => node.textContent.startsWith('crash')).click()")
    assert page.ask(ROWS) == ["primitives/reduce/sum/float32/dense/crash"]
    options = page.ask("[...document.querySelector('[name=family]').options].map(option => option.textContent)")
    assert options == ["any", "reduce (1)"]


def test_link_of_a_failure_opens_the_case(page):
    page.ask("document.querySelector('#failing a.number').click()")
    page.until("location.hash.startsWith('#status=')")
    page.until("document.querySelectorAll('.case-row').length === 2")
    page.ask("document.querySelector('#failing .case .id a').click()")
    page.until("document.getElementById('detail').querySelector('h3') !== null")
    assert page.ask("document.querySelector('#detail h3').textContent") == page.ask(
        "document.querySelector('#failing .case .id').textContent"
    )


def test_table_is_driven_by_keys_and_shows_all_of_a_case(page):
    page.ask("go({ family: 'reduce', sort: 'margin' }, 'cases')")
    page.ask("document.getElementById('rows').focus()")
    page.press("ArrowDown")
    assert page.ask("document.querySelector('[aria-selected=true] .column-id').textContent").endswith("/far")
    page.press("ArrowDown")
    page.press("ArrowDown")
    detail = page.ask("document.getElementById('detail').innerText")
    for words in (
        "half",
        "0.500",
        "2.00 ulp",
        "x[3]=0.5",
        "0.125",
        "ep-conformance explain primitives/reduce/sum/float32/dense/half",
    ):
        assert words in detail
    page.press("ArrowUp")
    detail = page.ask("document.getElementById('detail').innerText")
    for words in ("waived", "2027-03-01", "@numerics", "sums truncate"):
        assert words in detail
    assert page.ask("document.getElementById('rows').getAttribute('aria-activedescendant')") == "chosen"


def test_plots_are_drawn_with_their_bound(page):
    assert page.ask("document.querySelectorAll('#histograms svg').length") == 1
    assert page.ask("document.querySelectorAll('#histograms svg rect.in').length") == 1
    assert page.ask("document.querySelectorAll('#histograms svg rect.out').length") == 1
    assert page.ask("document.querySelectorAll('#biases svg').length") == 1
    assert "∞" in page.ask("document.querySelector('#nearest tbody tr').innerText")
    assert "250.0 ms" in page.ask("document.querySelector('#slowest tbody tr').innerText")


def test_narrow_window_does_not_scroll_sideways(page):
    for width in (1280, 800, 390):
        page.window(width, 900)
        assert page.ask("document.documentElement.scrollWidth <= innerWidth"), width


def test_nothing_selected_says_so(page):
    page.ask("go({ text: 'no such words' })")
    assert "No case is left" in page.ask("document.getElementById('rows').textContent")
    assert page.ask("document.getElementById('margins').hidden") is True


def test_empty_report_is_a_page(page, folder):
    write_page(samples.report(), folder / "empty.html")
    page.open((folder / "empty.html").as_uri())
    assert page.ask("document.getElementById('explore').hidden") is True


def test_hundred_thousand_cases(page, folder, capsys):
    write_page(samples.large(100_000), folder / "large.html")
    begin = time.monotonic()
    page.open((folder / "large.html").as_uri())
    opened = time.monotonic() - begin
    begin = time.monotonic()
    page.ask("go({ text: 'wrong' })")
    typed = time.monotonic() - begin
    with capsys.disabled():
        sys.stdout.write(
            f"100,000 cases: {(folder / 'large.html').stat().st_size / 1e6:.1f} MB, {opened:.2f} s to open, {typed:.2f} s to search\n"
        )
    assert page.ask(COUNT) == "11 of 100,000"
    assert page.ask("document.querySelectorAll('*').length") < 8000
    page.ask("go({ text: '' })")
    page.ask("document.getElementById('rows').scrollTop = 1e9")
    page.until("document.querySelector('.case-row[aria-rowindex=\"100000\"]') !== null")


@pytest.mark.skipif("EP_PAGE" not in os.environ, reason="pictures are for `make page`, which says of which report")
def test_pictures(page, folder):
    """Take pictures of the report in EP_PAGE, beside it."""
    source = Path(os.environ["EP_PAGE"])
    write_page(read_report(source), folder / "real.html")
    for name, width, height, dark in (
        ("wide-light", 1280, 1640, False),
        ("wide-dark", 1280, 1640, True),
        ("narrow", 420, 1640, False),
    ):
        page.window(width, height, dark=dark)
        page.open((folder / "real.html").as_uri())
        page.picture(source.with_name(f"page-{name}.png"))
        page.ask("document.getElementById('filters').scrollIntoView()")
        page.picture(source.with_name(f"page-{name}-below.png"))
