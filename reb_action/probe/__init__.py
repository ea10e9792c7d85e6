"""Makes observations: puts a question to the sandbox, reads the answer with suspicion.

The only package that spells `probes/`. Nothing here judges.
"""
