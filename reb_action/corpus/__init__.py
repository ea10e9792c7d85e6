"""The corpus: manifests, qualification, the paper's figures."""
