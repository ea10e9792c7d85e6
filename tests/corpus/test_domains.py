"""The families of domains: every domain of the corpus is in one, and the document says the same."""

from pathlib import Path

from reb_action.corpus import manifests
from reb_action.corpus.domains import FAMILIES, OTHER, find_family
from reb_action.resources import data_folder

DOCUMENT = Path(__file__).parents[2] / "docs" / "scoreboard.md"


def test_every_domain_of_the_corpus_is_in_one_family():
    domains = {one.domain for one in manifests.load_folder(data_folder("repos"))}
    mapped = [domain for family in FAMILIES for domain in family.domains]
    assert sorted(mapped) == sorted(domains)
    assert (len(FAMILIES), len(domains)) == (8, 15)
    assert len({family.key for family in (*FAMILIES, OTHER)}) == 9


def test_domain_that_the_corpus_lacks_is_in_none():
    assert find_family("robotics") is find_family("") is OTHER


def test_document_has_the_same_families():
    rows = [
        f"| {family.title} | {', '.join(f'`{domain}`' for domain in family.domains)} |"
        for family in FAMILIES
    ]
    text = DOCUMENT.read_text()
    assert [row for row in rows if row not in text] == []
