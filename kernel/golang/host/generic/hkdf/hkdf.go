// Package hkdf has the generic part of the standard package crypto/hkdf: keys
// derived as RFC 5869 says.
package hkdf

import (
	"crypto/hmac"
	"errors"
	"hash"
)

// Extract makes a pseudorandom key of a secret and an optional salt.
func Extract[H hash.Hash](h func() H, secret, salt []byte) ([]byte, error) {
	if salt == nil {
		salt = make([]byte, h().Size())
	}
	mac := hmac.New(func() hash.Hash { return h() }, salt)
	mac.Write(secret)
	return mac.Sum(nil), nil
}

// Expand makes a key of keyLength bytes of a pseudorandom key and the purpose
// that info names.
func Expand[H hash.Hash](h func() H, pseudorandomKey []byte, info string, keyLength int) ([]byte, error) {
	mac := hmac.New(func() hash.Hash { return h() }, pseudorandomKey)
	if keyLength > 255*mac.Size() {
		return nil, errors.New("hkdf: requested key length too large")
	}
	var key, block []byte
	for i := 1; len(key) < keyLength; i++ {
		mac.Reset()
		mac.Write(block)
		mac.Write([]byte(info))
		mac.Write([]byte{byte(i)})
		block = mac.Sum(nil)
		key = append(key, block...)
	}
	return key[:keyLength], nil
}

// Key makes a key of keyLength bytes of a secret, a salt and a purpose.
func Key[Hash hash.Hash](h func() Hash, secret, salt []byte, info string, keyLength int) ([]byte, error) {
	prk, err := Extract(h, secret, salt)
	if err != nil {
		return nil, err
	}
	return Expand(h, prk, info, keyLength)
}
