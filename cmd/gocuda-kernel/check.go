package main

import (
	"fmt"

	"gocuda/cudaapi/hazard"
)

const checkDetails = `
With GOCUDA_CHECK=FOLDER, programs run by exec check that what they queue on
devices is in order, and leave a record in FOLDER, one for each rank. This command
checks the records of all ranks as one: messages and collectives order what one
does after another, and memory that several have open is the same memory. FOLDER
is for the programs of one run; they must have ended.
The exit status is 1 if there are hazards: operations on the same memory that
nothing orders. Possible hazards, where it is not known what a
kernel touches, are shown and do not count.`

// runCheck shows the records of a job's ranks.
func runCheck(c *call) error {
	args, err := c.parse("folder")
	if err != nil {
		return err
	}
	processes, list, err := hazard.Read(args[0])
	if err != nil {
		return err
	}
	if processes == 0 {
		return fmt.Errorf("%s holds no records of checked processes: run them with GOCUDA_CHECK=%[1]s", args[0])
	}
	if len(list) > 0 {
		fmt.Fprintln(c.stdout, list)
	}
	fmt.Fprintf(c.stdout, "%d processes: %d hazards\n", processes, list.Proved())
	if list.Proved() > 0 {
		return exitStatus(1)
	}
	return nil
}
