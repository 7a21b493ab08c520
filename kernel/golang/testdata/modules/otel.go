package main

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func main() {
	exp := tracetest.NewInMemoryExporter()
	tp := trace.NewTracerProvider(trace.WithSyncer(exp))
	otel.SetTracerProvider(tp)
	ctx, span := otel.Tracer("t").Start(context.Background(), "work")
	span.SetAttributes(attribute.Int("n", 3))
	_, kid := otel.Tracer("t").Start(ctx, "kid")
	kid.End()
	span.End()
	for _, s := range exp.GetSpans() {
		fmt.Println(s.Name, len(s.Attributes), s.Parent.IsValid())
	}
}
