// `bun test/long/clock-jumps.ts`: the clock of a running service jumps by an hour and by a day, forward and back, under load.
// Attestations follow the clock, the service stays ready, and no acknowledged response is lost or repeated. Needs cc, and Linux
// with glibc. Exit code 1 if a goal is missed.
import { mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRequest } from '../service/calls.ts'
import { startService } from '../service/start-service.ts'
import { answerHelp } from '../support/head-help.ts'
import { conclude, createLedger, readyAfterMs } from './support/ledger.ts'

answerHelp(import.meta)

const HOUR = 3_600
const DAY = 86_400
/** Successive offsets from the real time in seconds. */
const SHIFTS = [HOUR, 0, -HOUR, 0, DAY, 0, -DAY, 0]
const READY_WITHIN_MS = 2_000

const folder = mkdtempSync(join(tmpdir(), 'countersign-clock-'))
const dataDirectory = join(folder, 'data')
const library = join(folder, 'clock-shift.so')
const source = join(import.meta.dir, 'support/clock-shift.c')
const built = Bun.spawnSync(['cc', '-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'])
if (!built.success) throw new Error(`cc: ${built.stderr}`)
const file = join(folder, 'shift')
const descriptor = openSync(file, 'w')
const shiftBy = (seconds: number): void => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(seconds))
  writeSync(descriptor, bytes, 0, 8, 0)
}

const ledger = createLedger()
let slowestMs = 0
try {
  shiftBy(0)
  const service = await startService({ dataDirectory, environment: { LD_PRELOAD: library, CLOCK_SHIFT_FILE: file } })
  const load = ledger.load(() => service, 16)
  for (const shift of SHIFTS) {
    const before = ledger.count()
    shiftBy(shift)
    ledger.forgetKeys()
    const readyMs = await readyAfterMs(service)
    const sentMs = performance.now()
    for (;;) {
      const response = await service.attest(projectRequest(service))
      const answer = (await response.json()) as { attestation: { expiration: number } }
      if (response.status !== 200) continue
      // Attestations are valid for a few minutes from the clock's time.
      const ahead = answer.attestation.expiration - Date.now() / 1_000 - shift
      if (ahead < 0 || ahead > 2 * HOUR)
        ledger.problems.push(`at ${shift} s, an attestation is valid for ${ahead.toFixed(0)} s`)
      break
    }
    const backMs = readyMs + performance.now() - sentMs
    slowestMs = Math.max(slowestMs, backMs)
    if (backMs > READY_WITHIN_MS) ledger.problems.push(`answered ${backMs.toFixed(0)} ms after a jump to ${shift} s`)
    await Bun.sleep(3_000)
    if (ledger.count() === before) ledger.problems.push(`nothing was answered at ${shift} s`)
    await readyAfterMs(service, 5_000)
    process.stderr.write(`at ${shift} s: ${ledger.count() - before} answers\n`)
  }
  await load.stop()
  await service.stop()
  await ledger.compare(dataDirectory)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
conclude(ledger, `${SHIFTS.length} jumps of an hour and a day, answered again after at most ${slowestMs.toFixed(0)} ms`)
