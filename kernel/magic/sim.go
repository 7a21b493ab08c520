package magic

import (
	"context"
	"errors"
	"fmt"

	"gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
)

var simMagic = Magic{Name: "sim", Usage: "%sim [status | [devices N] [nodes NODESxDEVICES] [memory BYTES] [seed N] [schedule random|adversarial] [check on|off] [profile h100|h200|FILE]]", Expand: true, Run: simulate,
	Doc: "Shows the simulated devices' settings, or replaces the devices by others.\n" +
		"For example: %sim devices 8, %sim schedule adversarial seed 7, %sim memory 512M, %sim check off, %sim profile h100.\n" +
		"Buffers, streams, events and kernels that were made before are lost: make them again.\n" +
		"It is for simulated devices only: on a machine with GPUs, set GOCUDA_BACKEND=sim before the kernel starts."}

func simulate(ctx context.Context, env Env, call Call) error {
	fields, err := call.Fields()
	if err != nil {
		return err
	}
	machine, err := backend.Simulated()
	if err != nil {
		return call.Errorf("SimulationError", "%v", err)
	}
	options := machine.Options()
	if len(fields) == 0 || len(fields) == 1 && fields[0] == "status" {
		fmt.Fprintln(env.Stdout(), options)
		if held := machine.Holdings().String(); held != "" {
			fmt.Fprintln(env.Stdout(), "in use:", held)
		}
		return nil
	}
	for ; len(fields) > 0; fields = fields[2:] {
		if len(fields) == 1 {
			return call.UsageErrorf("%q has no value", fields[0])
		}
		if err := options.Set(fields[0], fields[1]); err != nil {
			return call.UsageErrorf("%v", err)
		}
	}
	lost, err := backend.Simulate(options, ctx.Done())
	if errors.Is(err, cuda.ErrInterrupted) {
		return context.Cause(ctx)
	}
	if err != nil {
		return call.Errorf("SimulationError", "%v", err)
	}
	fmt.Fprintln(env.Stdout(), options)
	if was := lost.String(); was != "" {
		fmt.Fprintln(env.Stdout(), "Gone with the devices before: "+was+". Make again what you still need, beginning with cuda.Devices().")
	}
	return nil
}
