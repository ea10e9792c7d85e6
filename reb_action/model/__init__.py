"""The values that pass between the parts; they import only each other from this package."""
