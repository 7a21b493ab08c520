package main

import (
	"errors"
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

type obj struct{}

func (obj) MarshalLogObject(e zapcore.ObjectEncoder) error {
	e.AddString("key", "value")
	return nil
}

func main() {
	enc := zap.NewProductionEncoderConfig()
	enc.TimeKey = ""
	l := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(enc), zapcore.AddSync(os.Stdout), zap.InfoLevel))
	l.Info("hello", zap.Int("n", 3), zap.Strings("s", []string{"a"}), zap.Error(errors.New("bad")))
	l.Debug("hidden")
	l.Sugar().Warnw("sugar", "k", 1.5, "m", map[string]int{"a": 1})
	l.With(zap.Object("o", obj{})).Error("object")
}
