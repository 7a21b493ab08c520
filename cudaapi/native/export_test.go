package native

// KeepLittle has calls look at C's variables after so many answers, until undo.
func KeepLittle(answers int) (undo func()) {
	few, bytes := fewKept, fewBytes
	fewKept, fewBytes = answers, 1<<12
	return func() { fewKept, fewBytes = few, bytes }
}
