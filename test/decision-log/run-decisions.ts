// Runs `countersign decisions` over a folder of the test's own.
import { type DecisionsIo, decisionsCommands } from '../../src/cli/decisions/decisions.ts'
import { runCommand } from '../../src/cli/run-command.ts'
import { type Clock, systemClock } from '../../src/lib/time.ts'
import { recordOutput } from '../cli/recorded-output.ts'
import { deploymentAt } from '../cli/run-words.ts'

const never = (): never => {
  throw new Error('not reached')
}

export const runDecisions = async (
  words: readonly string[],
  io: Partial<DecisionsIo> & Pick<DecisionsIo, 'dataDirectory'>,
  clock: Clock = systemClock,
) => {
  const { output, printed } = recordOutput()
  const whole = { openTarget: never, openTree: null, beginTree: never, shipEveryMs: 10_000, ...io }
  const code = await runCommand(
    decisionsCommands(() => whole),
    words,
    {
      output,
      clock,
      user: 'anna',
      deployment: deploymentAt(io.dataDirectory, clock),
      open: never,
      openRemote: never,
      url: null,
      ask: null,
    },
  )
  return { code, out: printed.stdout, err: printed.stderr }
}
