"""Models, asked over real HTTP and as real processes; the model is the scripted one."""
