// Package pbkdf2 has the generic part of the standard package crypto/pbkdf2:
// keys of passwords as RFC 8018 makes them.
package pbkdf2

import (
	"crypto/hmac"
	"errors"
	"hash"
)

// Key makes a key of keyLength bytes of a password and a salt, in iter rounds.
func Key[Hash hash.Hash](h func() Hash, password string, salt []byte, iter, keyLength int) ([]byte, error) {
	if keyLength <= 0 {
		return nil, errors.New("pbkdf2: keyLength must be larger than 0")
	}
	mac := hmac.New(func() hash.Hash { return h() }, []byte(password))
	var key []byte
	for block := 1; len(key) < keyLength; block++ {
		mac.Reset()
		mac.Write(salt)
		mac.Write([]byte{byte(block >> 24), byte(block >> 16), byte(block >> 8), byte(block)})
		u := mac.Sum(nil)
		t := append([]byte(nil), u...)
		for range iter - 1 {
			mac.Reset()
			mac.Write(u)
			u = mac.Sum(nil)
			for i := range t {
				t[i] ^= u[i]
			}
		}
		key = append(key, t...)
	}
	return key[:keyLength], nil
}
