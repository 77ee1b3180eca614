"""The options of the commands, one module per command. They import nothing that takes long: help is printed at once."""
