package main

import (
	"crypto/sha256"
	"fmt"
	"io"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/curve25519"
	"golang.org/x/crypto/hkdf"
	"golang.org/x/crypto/nacl/secretbox"
	"golang.org/x/crypto/pbkdf2"
	"golang.org/x/crypto/scrypt"
	"golang.org/x/crypto/sha3"
)

func main() {
	fmt.Printf("%x\n", argon2.IDKey([]byte("pw"), []byte("saltsalt"), 1, 64, 1, 16))
	h, err := bcrypt.GenerateFromPassword([]byte("pw"), bcrypt.MinCost)
	fmt.Println(len(h), err, bcrypt.CompareHashAndPassword(h, []byte("pw")), bcrypt.CompareHashAndPassword(h, []byte("no")))
	fmt.Printf("%x\n", blake2b.Sum256([]byte("x")))
	a, _ := chacha20poly1305.New(make([]byte, 32))
	fmt.Printf("%x\n", a.Seal(nil, make([]byte, 12), []byte("text"), nil))
	x, _ := curve25519.X25519(append(make([]byte, 31), 1), curve25519.Basepoint)
	fmt.Printf("%x\n", x)
	key := make([]byte, 8)
	io.ReadFull(hkdf.New(sha256.New, []byte("s"), nil, nil), key)
	fmt.Printf("%x %x\n", key, pbkdf2.Key([]byte("p"), []byte("s"), 10, 8, sha256.New))
	k, _ := scrypt.Key([]byte("p"), []byte("s"), 16, 8, 1, 8)
	fmt.Printf("%x %x\n", k, sha3.Sum256(nil))
	var nonce [24]byte
	var sk [32]byte
	box := secretbox.Seal(nil, []byte("m"), &nonce, &sk)
	m, ok := secretbox.Open(nil, box, &nonce, &sk)
	fmt.Println(string(m), ok)
}
