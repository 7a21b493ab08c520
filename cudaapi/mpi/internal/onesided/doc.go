// Package onesided is one-sided communication over messages: each rank serves its
// part of a window by a goroutine, so a rank that computes holds up nobody.
//
// What one rank sends another arrives in order, so what came before a flush's
// message has been done when the flush is answered. A goroutine does what comes one
// after the other, which makes accumulates atomic. Where all ranks can map each
// other's memory, operations do not go through messages: they read and write it,
// accumulates under a lock that lies beside it.
package onesided
