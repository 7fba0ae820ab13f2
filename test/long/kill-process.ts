// `bun test/long/kill-process.ts [--times 100]`: kill -9 of the whole service at a random moment under load, again and
// again over one data folder. After each: ready within two seconds, every answer that was received is in the log, no
// uuid twice, and at the end the whole log verifies. Exit code 1 when anything is lost.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type RunningService, runCommand, startService } from '../service/start-service.ts'

const { values } = parseArgs({
  options: { times: { type: 'string', default: '100' }, help: { type: 'boolean', short: 'h' } },
})
if (values.help === true || !/^[1-9][0-9]{0,5}$/.test(values.times)) {
  process.stdout.write('Usage: bun test/long/kill-process.ts [--times 100]\n')
  process.exit(values.help === true ? 0 : 2)
}
const times = Number(values.times)
const CLIENTS = 16
const READY_WITHIN_MS = 2000

const dataDirectory = mkdtempSync(join(tmpdir(), 'countersign-kill-'))
const answered = new Set<string>()
const problems: string[] = []
let slowestStartMs = 0

/** Asks until the service is gone; remembers every uuid that it answered with. */
const load = async (service: RunningService): Promise<void> => {
  const body = {
    from: `0x${'1'.repeat(40)}`,
    chain: 'base',
    verification_hash: service.quickstart['VERIFICATION_HASH'],
  }
  for (;;) {
    try {
      const response = await service.attest(body)
      const { attestation } = (await response.json()) as { attestation: { uuid: string } }
      if (answered.has(attestation.uuid)) problems.push(`uuid ${attestation.uuid} was answered twice`)
      answered.add(attestation.uuid)
    } catch {
      return
    }
  }
}

const recordedUuids = async (): Promise<Set<string>> => {
  const tail = await runCommand(dataDirectory, 'decisions', 'tail', '--lines', '100000000', '--json')
  return new Set(tail.stdout.split('\n').map((line) => /"uuid":"([^"]+)"/.exec(line)?.[1] ?? ''))
}

try {
  for (let round = 1; round <= times; round++) {
    const startedMs = performance.now()
    const service = await startService({ dataDirectory })
    const startMs = performance.now() - startedMs
    if (round > 1) slowestStartMs = Math.max(slowestStartMs, startMs)
    if (round > 1 && startMs > READY_WITHIN_MS) problems.push(`round ${round}: ready after ${startMs.toFixed(0)} ms`)
    const before = answered.size
    const clients = Array.from({ length: CLIENTS }, () => load(service))
    await Bun.sleep(50 + Math.random() * 250)
    service.process.kill('SIGKILL')
    await Promise.all(clients)
    await service.stop()
    if (answered.size === before) problems.push(`round ${round}: nothing was answered`)
    process.stderr.write(`\r${round}/${times} kills, ${answered.size} answers, ${problems.length} problems `)
  }
  process.stderr.write('\n')
  const recorded = await recordedUuids()
  for (const uuid of answered) if (!recorded.has(uuid)) problems.push(`answer ${uuid} is not in the log`)
  const verified = await runCommand(dataDirectory, 'decisions', 'verify')
  if (verified.code !== 0) problems.push(`the log does not verify:\n${verified.stdout}${verified.stderr}`)
} finally {
  rmSync(dataDirectory, { recursive: true, force: true })
}

for (const problem of problems.slice(0, 20)) process.stdout.write(`problem: ${problem}\n`)
process.stdout.write(
  `${times} kills, ${answered.size} answers, slowest restart ${slowestStartMs.toFixed(0)} ms, ${problems.length} problems\n`,
)
process.exit(problems.length === 0 ? 0 : 1)
