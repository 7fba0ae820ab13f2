// `countersign plan`: recommends processes, workers and nodes for a rate and a p99, from a short benchmark.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailedError, type CommandOutput, parseCommand, UsageError } from '../command-line/output.ts'
import { runToExitCode } from '../command-line/print-error.ts'
import { PROGRAM } from '../program/labels.ts'

const ROOT = join(import.meta.dir, '..', '..')

const USAGE = `Usage: ${PROGRAM} plan --rate N --p99 DURATION

Measures this machine for about 20 seconds with a temporary service, and recommends processes, workers and nodes. Stop other programs first. Requires a source checkout.

  --rate N        Attestations per second
  --p99 DURATION  Maximum latency of 99% of the attestations, for example 20ms or 1s
  --json          Print the recommendation and all measured rates as JSON
  --help          Print this help

Exit codes: 0 success, 1 failure, 2 invalid arguments.
`

const positive = (name: string, pattern: RegExp, text: string | undefined, example: string): number => {
  const [, digits = '', unit] = pattern.exec(text ?? '') ?? []
  const value = Number(digits) * (unit === 's' ? 1_000 : 1)
  if (!(value > 0)) throw new UsageError(`--${name} is missing or invalid. Example: --${name} ${example}`)
  return value
}

export const runPlan = (commandArguments: readonly string[], output: CommandOutput): Promise<number> =>
  runToExitCode(output, USAGE, commandArguments, async () => {
    const command = parseCommand(commandArguments, {
      rate: { type: 'string' },
      p99: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    })
    if (command.flag('help')) {
      output.stdout(USAGE)
      return 0
    }
    const rate = positive('rate', /^(\d{1,9})$/, command.text('rate'), '5000')
    const p99Ms = positive('p99', /^(\d{1,6}(?:\.\d{1,3})?)(ms|s)$/, command.text('p99'), '20ms')
    if (!existsSync(join(ROOT, 'bench/plan.ts'))) {
      throw new CommandFailedError('plan requires the benchmark: run it from a source checkout')
    }
    const words = ['--rate', `${rate}`, '--p99', `${p99Ms}`, ...(command.flag('json') ? ['--json'] : [])]
    const child = Bun.spawn([process.execPath, 'run', '--silent', 'plan', ...words], {
      cwd: ROOT,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    output.stdout(await new Response(child.stdout).text())
    return (await child.exited) === 0 ? 0 : 1
  })
