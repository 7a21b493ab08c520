package mine

import "example.org/mine/deep"

type T deep.T

type Own struct{ a, B int }
