// A deployment with a published log: anyone can follow it without a key, a witness cosigns it, and missing cosignatures are
// reported.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { checkDecisionProof } from '../../../src/client/decision-proof.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { runWitness } from '../../../src/modules/transparency/commands/witness/witness.ts'
import { listenForHeads } from '../../../src/modules/transparency/commands/witness/witness-listen.ts'
import { openWitnessState } from '../../../src/modules/transparency/commands/witness/witness-state.ts'
import { openCheckpoint } from '../../../src/modules/transparency/tree/checkpoint.ts'
import { openCosignature } from '../../../src/modules/transparency/tree/cosignature.ts'
import { encodeVerifierKey, parseVerifierKey, type VerifierKey } from '../../../src/modules/transparency/tree/note.ts'
import { recordOutput } from '../../cli/recorded-output.ts'
import { attestOnce } from '../../service/calls.ts'
import { runCountersign } from '../../service/run-to-end.ts'
import { freePort, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { until } from '../../support/until.ts'

const NO_FILES = '/checkpoint/ /tile /tile/0/1 /tile/0/000.p/256 /tile/0/000.p/0 /tile/0/900 /tile/9/000'.split(' ')

test('anyone can follow the published log, and its witness cosigns it', async () => {
  const root = newFolder()
  const state = openWitnessState(join(root, 'w'), 'witness.example', () => Math.floor(Date.now() / 1_000))
  const port = freePort()
  const service = await startService({
    environment: {
      COUNTERSIGN_LOG_PUBLISH: 'true',
      COUNTERSIGN_WITNESSES: `${encodeVerifierKey(state.key)} http://127.0.0.1:${port}`,
      COUNTERSIGN_WITNESSES_WITHIN_SECONDS: '10',
    },
  })
  const settings = { COUNTERSIGN_DATA_DIR: service.dataDirectory }
  const withWitness = { ...settings, COUNTERSIGN_WITNESSES: `${encodeVerifierKey(state.key)} http://127.0.0.1:${port}` }
  let listening: ReturnType<typeof listenForHeads> | null = null
  try {
    const logKey = parseVerifierKey((await runCountersign(settings, 'proof', 'key')).stdout.trim())
    const { uuid } = (await attestOnce(service)).attestation
    const read = async (path: string) => fetch(service.url + path)
    const checkpoint = async (): Promise<string> => (await read('/checkpoint')).text()
    const metric = async (name: string): Promise<string> =>
      new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(await (await read('/metrics')).text())?.[1] ?? ''

    // Without the witness, heads are published without a cosignature after a while.
    await service.logLine(({ msg, message }) => /a witness did not cosign/.test(String(msg ?? message)))
    await until(async () => (await metric('countersign_decision_tree_cosignatures_late')) === '1')
    expect(await metric('countersign_witness_cosigns')).toBe('0')
    await until(async () => openCheckpoint(await checkpoint(), logKey).size >= 2)
    const late = await runCountersign(withWitness, 'doctor')
    const problem = /witness +problem +witness\.example .*has not cosigned the log’s head within 60 s/
    expect([late.code, late.stdout]).toEqual([1, expect.stringMatching(problem)])

    listening = listenForHeads({ hostname: '127.0.0.1', port }, logKey, state, {
      stdout: () => undefined,
      stderr: () => undefined,
      monotonicMs: systemClock.monotonicMs,
    })
    const isCosigned = (text: string, key: VerifierKey): boolean => {
      try {
        return openCosignature(text, key) > 0
      } catch {
        return false
      }
    }
    await until(async () => isCosigned(await checkpoint(), state.key))
    await until(async () => (await metric('countersign_decision_tree_cosignatures_late')) === '0')
    expect(await metric('countersign_witness_cosigns')).toBe('1')
    const well = await runCountersign(withWitness, 'doctor')
    expect(well.stdout).toMatch(/witness +ok +witness\.example +cosigned at /)
    const proven = await runCountersign(settings, 'decisions', 'prove', uuid)
    expect(isCosigned(checkDecisionProof(proven.stdout, encodeVerifierKey(logKey)).checkpoint, state.key)).toBe(true)

    // Another witness needs only the published files.
    const follow = async (): Promise<readonly [number, string]> => {
      const { output, printed } = recordOutput()
      const settings = ['--log', service.url, '--log-key', encodeVerifierKey(logKey), '--state', join(root, 'other')]
      const words = [...settings, '--name', 'other', '--once']
      const code = await runWitness(words, { output, unixSeconds: () => 1, signal: new AbortController().signal })
      return [code, printed.stdout + printed.stderr]
    }
    expect(await follow()).toEqual([0, expect.stringContaining('cosigned ')])
    const { size } = openCheckpoint(await checkpoint(), logKey)
    await Promise.all(Array.from({ length: 300 }, () => attestOnce(service)))
    await until(async () => openCheckpoint(await checkpoint(), logKey).size >= size + 300)
    expect(await follow()).toEqual([0, expect.stringMatching(/cosigned \d+ lines/)])
    for (const path of NO_FILES) expect((await read(path)).status).toBe(404)
    const tile = await read('/tile/0/000')
    expect([tile.status, (await tile.arrayBuffer()).byteLength]).toEqual([200, 8_192])
    expect((await fetch(`${service.url}/checkpoint`, { method: 'POST' })).status).toBe(405)
  } finally {
    await listening?.stop()
    state.close()
    await service.stop()
  }
}, 180_000)

test('nothing is published by default', async () => {
  const service = await startService()
  try {
    await attestOnce(service)
    for (const path of ['/checkpoint', '/tile/0/000.p/1']) expect((await fetch(service.url + path)).status).toBe(404)
  } finally {
    await service.stop()
  }
}, 60_000)
