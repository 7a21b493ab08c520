package main

import (
	"os"

	"github.com/sirupsen/logrus"
)

func main() {
	l := logrus.New()
	l.SetOutput(os.Stdout)
	l.SetFormatter(&logrus.TextFormatter{DisableTimestamp: true, DisableColors: true})
	l.WithFields(logrus.Fields{"a": 1, "b": "two words"}).Info("hello")
	l.Debug("hidden")
	l.SetFormatter(&logrus.JSONFormatter{DisableTimestamp: true})
	l.SetLevel(logrus.DebugLevel)
	l.WithField("x", []int{1}).Debug("shown")
}
