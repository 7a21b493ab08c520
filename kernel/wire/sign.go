package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"sync"
)

var (
	errSignature = errors.New("wrong or missing signature")
	errReplayed  = errors.New("signature was seen before: a message sent twice")
)

// signer signs messages and checks those of others. An empty key signs
// nothing and accepts everything, as the protocol has it.
type signer struct {
	key    []byte
	digest func() hash.Hash
	seen   recent
}

func newSigner(scheme, key string) (*signer, error) {
	digests := map[string]func() hash.Hash{
		"hmac-sha256": sha256.New, "hmac-sha384": sha512.New384, "hmac-sha512": sha512.New,
	}
	digest, ok := digests[scheme]
	if !ok {
		return nil, fmt.Errorf("signature scheme %q is not one of hmac-sha256, hmac-sha384, hmac-sha512", scheme)
	}
	return &signer{key: []byte(key), digest: digest}, nil
}

// sign returns the hexadecimal signature of the frames, empty without a key.
func (s *signer) sign(frames [][]byte) []byte {
	if len(s.key) == 0 {
		return []byte{}
	}
	mac := hmac.New(s.digest, s.key)
	for _, f := range frames {
		mac.Write(f)
	}
	return hex.AppendEncode(nil, mac.Sum(nil))
}

// check compares in constant time. A signature counts once, so that a
// recorded message cannot be played again.
func (s *signer) check(signature []byte, frames [][]byte) error {
	if len(s.key) == 0 {
		return nil
	}
	if !hmac.Equal(s.sign(frames), signature) {
		return errSignature
	}
	if !s.seen.add(string(signature)) {
		return errReplayed
	}
	return nil
}

// recent remembers the last signatures, up to a bound.
type recent struct {
	mu   sync.Mutex
	set  map[string]struct{}
	ring []string
	next int
}

const recentMax = 1 << 16

// add says false for a signature that is there already.
func (r *recent) add(signature string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.set[signature]; ok {
		return false
	}
	if r.set == nil {
		r.set = map[string]struct{}{}
	}
	if len(r.ring) < recentMax {
		r.ring = append(r.ring, signature)
	} else {
		delete(r.set, r.ring[r.next])
		r.ring[r.next] = signature
		r.next = (r.next + 1) % recentMax
	}
	r.set[signature] = struct{}{}
	return true
}
