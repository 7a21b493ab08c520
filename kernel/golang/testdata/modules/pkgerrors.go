package main

import (
	"errors"
	"fmt"

	perrors "github.com/pkg/errors"
)

func main() {
	base := errors.New("base")
	err := perrors.Wrap(perrors.WithMessage(base, "m"), "w")
	fmt.Println(err, perrors.Cause(err) == base, errors.Is(err, base))
	fmt.Printf("%v|%q\n", err, err)
	st, ok := err.(interface{ StackTrace() perrors.StackTrace })
	fmt.Println(ok, ok && len(st.StackTrace()) > 0)
}
