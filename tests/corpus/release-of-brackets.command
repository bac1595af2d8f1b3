["show", "FILE"]
