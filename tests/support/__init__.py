"""What tests share: fixtures, samples, and doubles of what is outside."""
