"""What the command line can do: a module per command, each with `add`, its options, and `run`."""
