// Package device carries device memory over a transport that takes host memory
// only.
//
// The sender of a message sends a ready-to-send header ([rts]) in its place: exactly
// [Inline] bytes, which begin with a random mark that the ranks agreed on when MPI
// started. So it matches receives, in order, as the message would. Replies and data
// go by a communicator that programs do not see. One file for each protocol, in the
// words that UCX has for them:
//
//	get (get.go)        RTS ►  the receiver opens the sender's memory (CUDA IPC)
//	                    ◄ ATS  and copies from device to device
//	pipeline            RTS ►  the receiver cannot open the memory: the data go
//	(pipeline.go)       ◄ RTR  through pinned memory of both hosts, in fragments,
//	              fragments ►  while others are copied
//	short offer         RTS ►  at most Inline bytes: if no reply comes soon, the
//	(offer_short.go)           sender keeps a copy and is done; a receiver that comes
//	                    ◄ RTR  to it later, or copied the data too late, asks for
//	                   copy ►  the copy
//	eager (send.go)    data ►  at most Inline bytes, where ranks have no notices; while
//	                           the data are not ready, an RTS that offers nothing
//
// Replies name the message that they answer (replies.go), and the receiver gives out
// the tag that fragments come with. Nothing waits for a stream: what is not ready is
// asked for again, or waited for on a stream that holds back no other message.
//
// A sender's states:
//
//	offered ── ATS ────────────────────────────────► closing ── the RTS is sent ──► done
//	   │ ├──── ATS with an event ──► receiver copies ──► closing
//	   │ ├──── RTR ────────────────► pipelining ───────► closing
//	   │ └──── NACK ───────────────► failed
//	   │  a device fails ──► refusing: the receiver gets data of no length
//	   └ 50 us without a reply, of a short offer ──► withdrawn: done for the program
//	withdrawn ── RTR ──► copy on its way ──► closing;  ── ATS ──► closing
//
// A receiver's:
//
//	matching ── a message of the host's, or eager ──► done
//	   ├─ RTS, the memory opens ────────► queueing ──► copying ──► replying (ATS) ──► done
//	   ├─ RTS, and the offer was withdrawn meanwhile ──► pipelining
//	   ├─ RTS, the memory does not open ► pipelining (RTR) ──► done
//	   ├─ RTS, to open it would wait for the device ► pipelining, or opening where the user wishes IPC
//	   └─ RTS, longer than the buffer ──► failed (the sender is told to discard)
//
// Any error of the transport or of a device leads to failed, which gives back what
// the message holds, and tells the other end that no data or no answer comes.
package device
