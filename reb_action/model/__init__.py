"""The values that pass between the parts; they import nothing of ours but each other."""
