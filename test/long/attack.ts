// `bun test/long/attack.ts`: starts a service and attacks its three listeners, with the attacks in docs/threat-model.md and then
// structured inputs to every route. Exit code 1 if a defense fails.
import { parseArgs } from 'node:util'
import { runAttack } from '../attack/attack.ts'

const USAGE = `Usage: bun test/long/attack.ts [--inputs N] [--seed N] [--only NAMES] [--json]

Starts a service with two organizations, people of each role and keys of each kind, and attacks it.

  --inputs N    Structured inputs after the named attacks (default 100000; 0: none)
  --seed N      Repeat the inputs of a seed (default: from the clock; printed)
  --only NAMES  Only these attacks, separated by commas; "inputs" are the structured inputs
  --json        Print the report as JSON
  --help        Print this

Exit codes: 0 all defenses held, 1 a defense failed, 2 invalid arguments.
`

const exitWithUsage = (): never => {
  process.stderr.write(USAGE)
  process.exit(2)
}

const options = (() => {
  try {
    return parseArgs({
      options: {
        inputs: { type: 'string', default: '100000' },
        seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
        only: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch {
    return exitWithUsage()
  }
})()
if (options.help) {
  process.stdout.write(USAGE)
  process.exit(0)
}
if (!/^\d{1,8}$/.test(options.inputs) || !/^\d{1,10}$/.test(options.seed)) exitWithUsage()

const report = await runAttack({
  inputs: Number(options.inputs),
  seed: Number(options.seed),
  only: options.only === undefined ? null : options.only.split(','),
  progress: (text) => void process.stderr.write(text),
})
if (options.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
else {
  for (const { name, row, faults } of report.attacks) {
    process.stdout.write(`${faults.length === 0 ? 'held     ' : 'FAILED   '} ${name} (row ${row})\n`)
    for (const fault of faults) process.stdout.write(`          ${fault}\n`)
  }
  const { sent, seed, perSecond, statuses, ofParser, faults } = report.inputs
  process.stdout.write(`${sent} inputs, seed ${seed}, ${perSecond} per second, ${ofParser} ended in Bun's parser\n`)
  process.stdout.write(
    `statuses: ${Object.entries(statuses)
      .map(([status, count]) => `${status} ${count}`)
      .join(', ')}\n`,
  )
  for (const fault of faults) process.stdout.write(`FAILED    ${JSON.stringify(fault)}\n`)
  for (const fault of report.afterwards) process.stdout.write(`FAILED    afterwards: ${fault}\n`)
  process.stdout.write(report.held ? 'all defenses held\n' : 'a defense failed\n')
}
process.exit(report.held ? 0 : 1)
