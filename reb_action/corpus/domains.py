"""The domains of the corpus in eight families; docs/scoreboard.md has the same table."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """Domains of manifests that are shown together; `key` names the family in an address."""

    key: str
    title: str
    domains: tuple[str, ...]


FAMILIES: Final = (
    Family(key="audio", title="Speech and audio", domains=("audio_speech",)),
    Family(key="generation", title="Image and video generation", domains=("generative_vision",)),
    Family(
        key="perception",
        title="Vision and depth",
        domains=("depth_estimation", "vision_backbone", "security_vision"),
    ),
    Family(key="documents", title="Documents and OCR", domains=("document_ocr",)),
    Family(
        key="language",
        title="Language models",
        domains=("llm_inference", "language_modeling", "nlp_tools"),
    ),
    Family(key="multimodal", title="Multimodal models", domains=("multimodal_foundation",)),
    Family(
        key="systems",
        title="Training, attention and kernels",
        domains=("training_framework", "efficient_attention", "kernel_library"),
    ),
    Family(key="graphs", title="Graphs and planning", domains=("graph_learning", "planning")),
)
OTHER: Final = Family(key="other", title="Other domains", domains=())
"""The family of a domain that the corpus does not have, or that is not known."""
_BY_DOMAIN: Final = {domain: family for family in FAMILIES for domain in family.domains}


def find_family(domain: str) -> Family:
    """Return the family of a manifest's domain."""
    return _BY_DOMAIN.get(domain, OTHER)
