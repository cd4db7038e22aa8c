"""The command line: one command a file, each a thin call of a public function."""
