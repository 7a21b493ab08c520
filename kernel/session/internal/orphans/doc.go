// Package orphans ends what cells started and left behind.
//
// An evaluator leads a session of processes, in setsid's sense. All that its
// cells start belongs to that session, whoever its parent is, except what calls
// setsid itself: that was detached on purpose, and stays. So the end of an
// evaluator is the end of its session.
//
// The process that started the evaluator ends the session. Should it be killed
// itself, its guard does so: a process that has nothing else to do, and a
// session of its own, so that no signal for the others reaches it.
//
// Only Linux is served: elsewhere there is no /proc to find the processes of a
// session by.
package orphans
