package main

import (
	"errors"
	"os"

	"github.com/rs/zerolog"
)

func main() {
	l := zerolog.New(os.Stdout)
	l.Info().Str("a", "b").Int("n", 1).Dur("d", 5).Msg("hello")
	l.Error().Err(errors.New("bad")).Strs("s", []string{"x", "y"}).Send()
	sub := l.With().Str("c", "d").Logger().Level(zerolog.WarnLevel)
	sub.Info().Msg("hidden")
	sub.Warn().Interface("i", map[string]int{"k": 1}).Msg("warn")
}
