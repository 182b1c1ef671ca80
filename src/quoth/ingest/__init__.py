"""From files to chunks that know their exact place."""
