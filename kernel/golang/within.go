package golang

// Within runs code in the middle of the running cell, for compiled functions
// that it calls. The code must declare nothing, and panics as a call of the
// cell would.
func (ev *Evaluator) Within(name, code string) error {
	entry, err := ev.compile(name, code, true)
	if err != nil {
		return err
	}
	if entry != nil {
		(*entry)()
	}
	return nil
}
