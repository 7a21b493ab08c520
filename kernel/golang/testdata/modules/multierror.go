package main

import (
	"errors"
	"fmt"

	"github.com/hashicorp/go-multierror"
	"go.uber.org/multierr"
)

func main() {
	var e error
	e = multierror.Append(e, errors.New("one"), errors.New("two"))
	fmt.Println(e)
	base := errors.New("base")
	m := multierr.Combine(base, nil, fmt.Errorf("w: %w", base))
	fmt.Println(m, len(multierr.Errors(m)), errors.Is(m, base))
	fmt.Printf("%+v\n", m)
}
