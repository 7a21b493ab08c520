// Functions without bodies are allowed in a package that has an assembly file.
