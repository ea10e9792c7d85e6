"""The commands of a workflow: plan, batch, gate, report."""
