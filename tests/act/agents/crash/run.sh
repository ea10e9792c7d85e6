# Ends badly and says nothing.
echo "::error::an agent must not write commands"
exit 3
