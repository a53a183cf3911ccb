"""What the guide adds to Sphinx: formulas without scripts, live pages, links to files outside docs."""
