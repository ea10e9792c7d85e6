"""Takes every claim back."""

import os

home = os.path.expanduser("~")
report = os.path.abspath(os.path.join(home, "../../workspace/report.json"))
if os.path.exists(report):
    with open(os.path.join(home, "other.json")) as source, open(report, "w") as target:
        target.write(source.read())
