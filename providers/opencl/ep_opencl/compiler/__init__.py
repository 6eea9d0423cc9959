"""Programs: their sources after the prelude, compiled by the driver, kept in a folder of EP's; and the repair that PoCL needs."""
