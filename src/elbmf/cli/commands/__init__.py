"""The commands, one file each; `elbmf.cli.registry` lists them."""
