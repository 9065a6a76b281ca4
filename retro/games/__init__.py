"""Rules, one module per game; the plain twin beside the jitted one."""
