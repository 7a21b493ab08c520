// Functions of the runtime have no body here (memory.go).
